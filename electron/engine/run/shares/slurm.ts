import { createHash } from 'node:crypto';
import { execa } from 'execa';
import { type AppFailure, appFailure } from '../../../contract/errors.ts';
import type { SlurmChoice } from '../../../contract/cluster.ts';
import { message, plain, type Message } from '../../../contract/messages.ts';
import { tasksAtOnce } from '../../../contract/terminal/slurmScript.ts';
import { makeFolderInRun, pathInRun, replaceInRun } from '../../system/runFiles.ts';
import type { ClusterRun, Scheduler, ShareTask } from './scheduler.ts';

/** A busy controller takes long to answer. */
const PATIENCE_MS = 60_000;
/**
 * SLURM forgets a task some minutes after its end, and lists a new one only a moment after it was submitted.
 */
const UNKNOWN_MS = 60_000;
const SCRIPT = 'work/slurm.sh';

/** Our variables that SLURM's programs inherit, and through sbatch a task. */
const KEPT =
  /^(HOME|LANG|LOGNAME|PATH|SHELL|SSH_AUTH_SOCK|TERM|TMPDIR|USER|LC_.*|KRB5.*|SLURM_CONF|SLURM_CLUSTERS|SBATCH_.*)$/;

const RUNNING = /^(RUNNING|COMPLETING|SUSPENDED|STOPPED|SIGNALING)$/;
/** Who ended a task, by its last state: all others than these still wait, or run. */
const ENDED_BY = {
  person: /^CANCELLED/,
  scheduler: /^(DEADLINE|PREEMPTED|REVOKED|TIMEOUT)$/,
  node: /^(BOOT_FAIL|NODE_FAIL)$/,
  program: /^(COMPLETED|FAILED|OUT_OF_MEMORY)$/,
} as const;

interface Answer {
  code: number;
  output: string;
  errors: string;
}
/** The last known job of a share, and when it was submitted or first listed here. */
interface LastJob {
  job: number;
  at: number;
}

/** Runs one of SLURM's programs. Rejects with AppFailure if it could not be run. */
async function ask([file = '', ...args]: readonly string[], variables = {}): Promise<Answer> {
  const done = await execa(file, args, {
    env: {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => KEPT.test(name))),
      ...variables,
    },
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    timeout: PATIENCE_MS,
    stripFinalNewline: false,
  });
  if (done.code === 'ENOENT') throw failed(message('slurm.missing'));
  if (done.timedOut) throw unreachable(`${file} did not answer in ${PATIENCE_MS / 1000} s`);
  if (done.exitCode === undefined) throw unreachable(done.shortMessage ?? '');
  return { code: done.exitCode, output: done.stdout, errors: done.stderr };
}

const unreachable = (output: string): AppFailure =>
  failed(message('slurm.silent', { line: output.trim().split('\n').at(-1)?.slice(0, 300) ?? '' }));

/** Submits the shares of a run as one array job, and follows it by its name. */
export class SlurmScheduler implements Scheduler {
  private readonly choice: SlurmChoice;
  private readonly run: ClusterRun;
  /** A copy of the run has another, and so has another division of it. */
  private readonly name: string;
  private readonly last = new Map<number, LastJob>();

  constructor(choice: SlurmChoice, run: ClusterRun) {
    this.choice = choice;
    this.run = run;
    const hash = createHash('sha256').update(`${run.runId} ${run.folder}`).digest('hex');
    this.name = `virnucpro-${hash.slice(0, 16)}-${choice.shares}`;
  }

  get job(): string {
    const jobs = new Set([...this.last.values()].map(({ job }) => job));
    return [...jobs].toSorted((a, b) => a - b).join(', ') || this.name;
  }

  async open(): Promise<string> {
    const { code, output, errors } = await ask(['sbatch', '--version']);
    if (code !== 0) throw unreachable(errors);
    return `S${output.trim().replace(/^s/, '').slice(0, 100)}`;
  }

  async submit(shares: readonly number[]): Promise<void> {
    const { folder, context } = this.run;
    const { script, shares: of } = this.choice;
    replaceInRun(folder, SCRIPT, Buffer.from(script));
    makeFolderInRun(folder, 'logs');
    const submission = [
      ...['sbatch', '--parsable', `--job-name=${this.name}`, `--chdir=${folder}`, '--open-mode=append'],
      `--output=${folder.replaceAll('%', '%%')}/logs/slurm-%A_%a.log`,
      `--array=${ranges(shares)}${tasksAtOnce(script)}`,
      ...[pathInRun(folder, SCRIPT), folder, String(of)],
    ];
    const { interpreter: VIRNUCPRO_PYTHON } = context.environment;
    const { code, output, errors } = await ask(submission, VIRNUCPRO_PYTHON ? { VIRNUCPRO_PYTHON } : {});
    // sbatch prints `number` or `number;cluster`; a site's own messages may precede it.
    const [, job] = /^(\d+)(?:;[\w.-]+)?$/m.exec(output) ?? [];
    if (code !== 0 || job === undefined) {
      if (/contact slurm controller|timed out/i.test(errors)) throw unreachable(errors);
      throw refusal(errors || output);
    }
    for (const share of shares) this.last.set(share, { job: Number(job), at: performance.now() });
  }

  async tasks(statuses: ReadonlyMap<number, unknown>): Promise<ShareTask[]> {
    const { code, output, errors } = await ask([
      ...['squeue', '--me', '--noheader', '--array', '--states=all', `--name=${this.name}`],
      '--Format=ArrayJobID:|,ArrayTaskID:|,State:|,NodeList:|,Reason:200',
    ]);
    if (code !== 0) throw unreachable(errors);
    const lines = output.split('\n').map((line) => line.split('|').map((word) => word.trim()));
    const now = performance.now();
    const states = new Map<number, string[]>();
    // Of the tasks of a share, the one with the highest number was submitted last.
    for (const [number, index = '', ...state] of lines.toSorted(([a], [b]) => Number(a) - Number(b))) {
      const [job, share] = [Number(number), Number(index)];
      const last = this.last.get(share);
      if (!/^\d+$/.test(index) || !statuses.has(share) || job < (last?.job ?? 0)) continue;
      // A pause has cancelled it.
      if (state[0] === 'COMPLETING' && !last) continue;
      if (job !== last?.job) this.last.set(share, { job, at: now });
      states.set(share, state);
    }
    for (const [share, { at }] of this.last)
      if (statuses.has(share) && !states.has(share) && now - at >= UNKNOWN_MS) states.set(share, []);
    return [...states].map(([share, state]) => toTask(share, state));
  }

  /** Rejects if the jobs may continue. Without jobs that match, scancel is content. */
  async cancel(): Promise<void> {
    const { code, errors } = await ask(['scancel', `--name=${this.name}`]);
    if (code !== 0 && !/invalid job id|already complet/i.test(errors)) throw unreachable(errors);
    this.last.clear();
  }
}

/** `state`, where it computes, and why it waits; nothing for a task that SLURM has forgotten. */
function toTask(share: number, [state, where = '', reason = '']: readonly string[]): ShareTask {
  if (state === undefined) return { share, state: 'ended', node: null, reason: message('slurm.unknown') };
  const node = /^[\w.-]+$/.test(where) ? where : null;
  if (RUNNING.test(state)) return { share, state: 'running', node, reason: null };
  for (const who of ['person', 'scheduler', 'node', 'program'] as const)
    if (ENDED_BY[who].test(state))
      return { share, state: 'ended', node, reason: message(`slurm.ended.${who}`, { state }) };
  return { share, state: 'waiting', node, reason: reason === 'None' ? null : plain(reason) };
}

/**
 * Numbers as SLURM writes them, such as `1-8,11`: a list of all would be longer than Linux takes for an
 * argument.
 */
function ranges(numbers: readonly number[]): string {
  const found: [first: number, last: number][] = [];
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const before = found.at(-1);
    if (before?.[1] === number - 1) before[1] = number;
    else found.push([number, number]);
  }
  return found.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

/** Why sbatch refuses a job, in its own words. */
function refusal(errors: string): AppFailure {
  const lines = errors.split('\n').filter((line) => /error|failure/i.test(line));
  const words = lines.length === 0 ? errors : lines.join('; ').replaceAll(/sbatch: |error: /g, '');
  return failed(message('slurm.refused', { words: words.trim().slice(0, 400) }));
}

const failed = (cause: Message): AppFailure => appFailure('cluster_failed', cause);
