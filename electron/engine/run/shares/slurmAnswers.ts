import { appError, type AppError } from '../../../contract/errors.ts';

/** Why a task waits. A key that ends in `*` matches any reason with that beginning. */
const WAITING: Readonly<Record<string, string>> = {
  Priority: 'other jobs come first',
  Resources: 'waiting for a free node',
  BeginTime: 'it may not start yet',
  Dependency: 'waiting for another job',
  Licenses: 'waiting for a licence',
  Reservation: 'waiting for its reservation',
  Cleaning: 'still being cleared up after it was queued again',
  JobArrayTaskLimit: 'as many tasks run at once as the array allows',
  JobHeldAdmin: 'held by an administrator',
  JobHeldUser: 'held by its user',
  PartitionConfig: 'the partition has no nodes as it asks for',
  PartitionDown: 'the partition is down',
  PartitionInactive: 'the partition is not active',
  PartitionNodeLimit: 'it asks for more than the partition allows',
  PartitionTimeLimit: 'it asks for more time than the partition allows',
  BadConstraints: 'no node is as it asks',
  InvalidAccount: 'its account is not valid',
  InvalidQOS: 'its QOS is not valid',
  'ReqNodeNotAvail*': 'the nodes that it needs are down, drained or reserved',
  'Nodes_required_for_job_are_DOWN*': 'the nodes that it needs are down, drained or reserved',
  'QOS*': 'a limit of the QOS has been reached',
  'MaxGRES*': 'a limit on GPUs has been reached',
  'Assoc*': 'a limit of the account has been reached',
  'launch_failed*': 'it could not be launched on its node',
};

/**
 * A task that waits for one of these cannot start as submitted, however long it waits. PartitionNodeLimit is
 * not among them: SLURM also reports it for nodes that are only drained.
 */
const HOPELESS =
  /^(PartitionConfig|PartitionTimeLimit|BadConstraints|InvalidAccount|InvalidQOS|\w*PerJob\w*|\w*MaxWallDuration\w*|QOSMin\w+)$/;

/** Its node failed to start it, and SLURM holds it until it is released manually. */
const HELD_FOR_GOOD = /^launch_fail\w*_requeued_held/i;

const ENDED: Readonly<Record<string, string>> = {
  BOOT_FAIL: 'its node did not start',
  CANCELLED: 'it was cancelled',
  COMPLETED: 'it ended',
  DEADLINE: 'its deadline had passed',
  FAILED: 'it failed',
  NODE_FAIL: 'its node failed',
  OUT_OF_MEMORY: 'it used more memory than it was given',
  PREEMPTED: 'another job took its place',
  REVOKED: 'another cluster took it',
  TIMEOUT: 'its time had ended',
};

const RUNNING: ReadonlySet<string> = new Set(['RUNNING', 'COMPLETING', 'SUSPENDED', 'STOPPED', 'SIGNALING']);

/** Maps a state as squeue names it. */
export function stateOf(state: string): 'waiting' | 'running' | 'ended' {
  if (state in ENDED) return 'ended';
  return RUNNING.has(state) ? 'running' : 'waiting';
}

export const describeEnd = (state: string): string => `${ENDED[state] ?? 'it ended'} (${state})`;

export const isHopeless = (reason: string): boolean => HOPELESS.test(wordOf(reason));

export const isHeldForGood = (reason: string): boolean => HELD_FOR_GOOD.test(wordOf(reason));

export function describeWaiting(reason: string): string {
  if (reason === '' || reason === 'None') return 'SLURM has not looked at it yet';
  const word = wordOf(reason);
  const begins = Object.keys(WAITING).find(
    (known) => known.endsWith('*') && word.startsWith(known.slice(0, -1)),
  );
  const plain = WAITING[word] ?? (begins === undefined ? undefined : WAITING[begins]);
  return plain === undefined ? reason : `${plain} (${reason})`;
}

const wordOf = (reason: string): string => (/^[^(,]*/.exec(reason)?.[0].trim() ?? '').replaceAll(' ', '_');

const REFUSALS: readonly (readonly [RegExp, why: string, next: string])[] = [
  [
    /invalid account|account\/partition|group not permitted/,
    'this account may not use this partition',
    'Choose another account or partition; `sacctmgr show assoc user=$USER` lists yours.',
  ],
  [
    /invalid partition|no partition specified/,
    'there is no such partition',
    'Choose one that `sinfo` lists.',
  ],
  [/invalid qos|qos permission/, 'this QOS may not be used', 'Choose another QOS, or none.'],
  [
    /generic resource|gres/,
    'no node has such GPUs',
    "Compare the GPUs asked for with those that `sinfo -o '%P %G'` lists.",
  ],
  [
    /node configuration is not available|more processors requested|cpu count|memory specification/,
    'no node has as many processors, as much memory and as many GPUs',
    'Ask for less per task, or for another partition.',
  ],
  [
    // Messages about a policy also mention its time limits, so this comes first.
    /time limit is invalid|requested time limit/,
    'the time asked for is not allowed',
    'Ask for less time: a task whose time ends is queued again.',
  ],
  [
    /array/,
    'the array is not allowed as it is',
    'Ask for fewer tasks: `scontrol show config` names the largest array as MaxArraySize.',
  ],
];

/** This refusal ends once other jobs have finished. */
const LIMIT: (typeof REFUSALS)[number] = [
  /limit|policy/,
  'a limit on jobs has been reached',
  'Wait until earlier jobs have ended, or ask for fewer tasks.',
];

/** The refusal if it is not known to be temporary. */
export const lastingRefusal = (answer: string): AppError | null =>
  REFUSALS.some(([pattern]) => pattern.test(answer.toLowerCase())) ? refusal(answer) : null;

/** Why sbatch refuses a job, from its standard error. */
export function refusal(answer: string): AppError {
  const lines = answer.split('\n').filter((line) => /error/i.test(line));
  const lastLine = (lines.at(-1) ?? answer)
    .trim()
    .replace(/^(sbatch: )?(error: )?/, '')
    .slice(0, 300);
  const [, why, next] = [...REFUSALS, LIMIT].find(([pattern]) => pattern.test(answer.toLowerCase())) ?? [];
  return appError(
    'cluster_failed',
    `SLURM does not take the job${why === undefined ? '' : `: ${why}`}. It says: ${lastLine}`,
    {
      nextStep: next ?? 'Change the job as SLURM suggests, or ask who runs the cluster.',
    },
  );
}
