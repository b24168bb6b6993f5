import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { appError, AppFailure, appFailure, type AppError } from '../../../contract/errors.ts';
import type { SlurmChoice } from '../../../contract/cluster.ts';
import { message, plain, type Message } from '../../../contract/messages.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import { quotedForShell } from '../../../contract/terminal/predictCommand.ts';
import { sbatchOption } from '../../../contract/terminal/slurmScript.ts';
import type { EngineContext } from '../../engineContext.ts';
import { makeFolderInRun, pathInRun, readPlain, replaceInRun } from '../../system/runFiles.ts';
import type { ClusterRun, Scheduler, ShareTask } from './scheduler.ts';

/** A busy controller takes long to answer. */
const PATIENCE_MS = 60_000;
/**
 * SLURM forgets a task some minutes after its end, and lists a new one only a moment after it was submitted.
 */
const UNKNOWN_MS = 60_000;
const SCRIPT = 'work/slurm.sh';
const MOST_LOG_BYTES = 1 << 20;

/** Our variables that SLURM's programs inherit, and through sbatch a task. */
const KEPT =
  /^(HOME|LANG|LOGNAME|PATH|SHELL|SSH_AUTH_SOCK|TERM|TMPDIR|USER|LC_.*|KRB5.*|SLURM_CONF|SLURM_CLUSTERS|SBATCH_.*)$/;

const RUNNING = /^(RUNNING|COMPLETING|SUSPENDED|STOPPED|SIGNALING)$/;
const ENDED =
  /^(BOOT_FAIL|CANCELLED|COMPLETED|DEADLINE|FAILED|NODE_FAIL|OUT_OF_MEMORY|PREEMPTED|REVOKED|TIMEOUT)$/;
/** Its node failed to start it, and SLURM holds it until it is released manually. */
const HELD_FOR_GOOD = /^launch.fail\w*.requeued.held/i;
/**
 * A task that waits for one of these cannot start as submitted, however long it waits. PartitionNodeLimit is
 * not among them: SLURM also reports it for nodes that are only drained.
 */
const HOPELESS =
  /^(PartitionConfig|PartitionTimeLimit|BadConstraints|InvalidAccount|InvalidQOS|\w*PerJob\w*|\w*MaxWallDuration\w*|QOSMin\w+)(,|$)/;
/** SLURM's reasons that are hard to guess or that everybody meets. */
const EXPLAINED = ['None', 'Priority', 'Resources', 'PartitionConfig', 'BadConstraints'] as const;
/** Refusals that no waiting changes. Messages about a policy mention its time limits as well, so limits do not count. */
const LASTING_REFUSAL =
  /invalid|no partition specified|not permitted|qos permission|generic resource|gres|not available|more processors|cpu count|memory specification|array/i;

/** The jobs of a run all have one name, by which SLURM finds them. */
const jobsSchema = z.object({
  folder: z.string(),
  name: z.string().regex(/^[\w-]+$/),
  login: z.string().nullable(),
  /** The clusters that the script names, or the one of several that took the job. */
  cluster: z
    .string()
    .regex(/^\w[\w.,-]*$/)
    .nullable(),
});
type Jobs = z.infer<typeof jobsSchema>;

interface Answer {
  code: number;
  output: string;
  errors: string;
}
/** A task in SLURM. `job`: the number of its array, which only its own cluster knows. */
type ListedTask = ShareTask & { job: number; held: boolean };
/** The last known job of a share. */
interface LastJob {
  job: number;
  /** When it was submitted or first listed here. */
  at: number;
  /** SLURM's time of submission of the last job that it listed for the share. */
  submitted: string;
  /** Its end was reported: nobody is asked again once SLURM forgets it. */
  ended: boolean;
}

/** Runs one of SLURM's programs, here or on a login node. Rejects with AppFailure if it could not be run. */
async function ask(login: string | null, words: readonly string[], input?: string): Promise<Answer> {
  const line = words.map(quotedForShell).join(' ');
  // Where people share connections by ~/.ssh/config, such as after a one-time code, this does the same.
  const ssh = ['ssh', '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=20', '--', login ?? '', line];
  const [file = '', ...args] = login === null ? words : ssh;
  const done = await execa(file, args, {
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => KEPT.test(name))),
    extendEnv: false,
    reject: false,
    ...(input === undefined ? { stdin: 'ignore' } : { input }),
    timeout: PATIENCE_MS,
    stripFinalNewline: false,
  });
  if (done.code === 'ENOENT') return { code: 127, output: '', errors: `${file}: not found` };
  if (done.timedOut) throw unreachable(login, `${words[0]} did not answer in ${PATIENCE_MS / 1000} s`);
  if (done.exitCode === undefined) throw unreachable(login, done.shortMessage ?? '');
  if (login !== null && done.exitCode === 255) throw unreachable(login, done.stderr);
  return { code: done.exitCode, output: done.stdout, errors: done.stderr };
}

const among = (cluster: string | null): string[] => (cluster === null ? [] : [`--clusters=${cluster}`]);

/** Asked about several clusters at once, SLURM's programs leave out one that does not answer, without an error. */
const oneByOne = (cluster: string | null): (string | null)[] => cluster?.split(',') ?? [null];

/** The columns of each line that a program prints about the clusters of these jobs. Rejects unless all of them answer. */
async function list({ login, cluster }: Jobs, words: readonly string[]): Promise<string[][]> {
  const lines: string[] = [];
  for (const one of oneByOne(cluster)) {
    const { code, output, errors } = await ask(login, [...words, ...among(one)]);
    if (code !== 0) throw unreachable(login, errors);
    lines.push(...output.split('\n'));
  }
  return lines.map((line) => line.split('|').map((word) => word.trim()));
}

/** The lines in the order of one of SLURM's times, which compare as text. */
function byTime(lines: readonly string[][], column: number): string[][] {
  const time = (line: readonly string[]): string => line[column] ?? '';
  return lines.toSorted((a, b) => (time(a) < time(b) ? -1 : time(a) > time(b) ? 1 : 0));
}

/**
 * Cancels these tasks of the jobs, or all. Rejects if they may continue. Without jobs that match, scancel is
 * content.
 */
async function cancel({ login, cluster, name }: Jobs, tasks: readonly string[] = []): Promise<void> {
  const silent: string[] = [];
  for (const one of oneByOne(cluster)) {
    const { code, errors } = await ask(login, ['scancel', ...among(one), `--name=${name}`, ...tasks]);
    if (code !== 0 && !/invalid job id|already complet/i.test(errors)) silent.push(errors);
  }
  if (silent.length > 0) throw unreachable(login, silent.join('\n'));
}

function unreachable(login: string | null, output: string): AppFailure {
  const line = output.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
  return failed(
    login === null ? message('slurm.silent', { line }) : message('slurm.silent_there', { login, line }),
  );
}

/** Submits the shares of a run as array jobs, and follows them by their name. */
export class SlurmScheduler implements Scheduler {
  /** Each of several clusters would refuse a job that excludes a node of another. */
  readonly excludes: boolean;
  private readonly choice: SlurmChoice;
  private readonly run: ClusterRun;
  private jobs: Jobs;
  private readonly last = new Map<number, LastJob>();

  constructor(choice: SlurmChoice, run: ClusterRun) {
    const { script, shares, login } = choice;
    this.choice = choice;
    this.run = run;
    const cluster = sbatchOption(script, 'clusters', 'M') ?? null;
    this.excludes = !/,|^all$/.test(cluster ?? '');
    // Each start has a name of its own, since SLURM lists tasks for minutes that were cancelled by a pause.
    const name = `virnucpro-${randomBytes(8).toString('hex')}-${shares}`;
    this.jobs = { folder: run.folder, name, login, cluster };
  }

  get job(): string {
    const jobs = new Set([...this.last.values()].map(({ job }) => job));
    return [...jobs].toSorted((a, b) => a - b).join(', ') || this.jobs.name;
  }

  async open(): Promise<string> {
    const { login, shares } = this.choice;
    const { code, output, errors } = await ask(login, ['sbatch', '--version']);
    if (code === 127 || errors.includes('not found'))
      throw failed(login === null ? message('slurm.missing') : message('slurm.missing_there', { login }));
    if (code !== 0) throw unreachable(login, errors);
    const earlier = recalled(this.run);
    const cluster = this.jobs.cluster ?? earlier?.cluster ?? null;
    if (earlier?.name.endsWith(`-${shares}`) && earlier.login === login && earlier.cluster === cluster)
      this.jobs = earlier;
    else if (earlier) await cancel(earlier);
    remember(this.run, this.jobs);
    return `S${output.trim().replace(/^s/, '').slice(0, 100)}`;
  }

  async submit(shares: readonly number[], excluded: readonly string[]): Promise<void> {
    const { folder, program } = this.run;
    const { script, shares: of, login } = this.choice;
    replaceInRun(folder, SCRIPT, Buffer.from(script));
    makeFolderInRun(folder, 'logs');
    const excludes = [sbatchOption(script, 'exclude', 'x') ?? [], excluded].flat();
    const atOnce = /%\d+$/.exec(sbatchOption(script, 'array', 'a') ?? '')?.[0] ?? '';
    const { code, output, errors } = await ask(login, [
      ...['sbatch', '--parsable', `--job-name=${this.jobs.name}`, `--chdir=${folder}`, '--open-mode=append'],
      `--output=${folder.replaceAll('%', '%%')}/logs/slurm-%A_%a.log`,
      `--array=${ranges(shares)}${atOnce}`,
      // Variables of the environment could lead a later job to another cluster than the first.
      ...among(this.jobs.cluster),
      // This overrides the script's own option.
      ...(excluded.length === 0 ? [] : [`--exclude=${excludes.join(',')}`]),
      ...[pathInRun(folder, SCRIPT), folder, program ?? 'virnucpro', String(of)],
    ]);
    // sbatch prints `number` or `number;cluster`; a site's own messages may precede it.
    const [, job, cluster] = /^(\d+)(?:;([\w.-]+))?$/m.exec(output) ?? [];
    if (code !== 0 || job === undefined) {
      if (/contact slurm controller|timed out/i.test(errors)) throw unreachable(login, errors);
      throw new AppFailure(refusal(errors || output));
    }
    this.jobs.cluster ??= cluster ?? null;
    remember(this.run, this.jobs);
    for (const share of shares) {
      const submitted = this.last.get(share)?.submitted ?? '';
      this.last.set(share, { job: Number(job), at: performance.now(), submitted, ended: false });
    }
  }

  async tasks(): Promise<ShareTask[]> {
    const format = '--Format=ArrayJobID:|,ArrayTaskID:|,State:|,NodeList:|,SubmitTime:|,Reason:200';
    const lines = await list(this.jobs, [
      // Times that can be compared as text, whatever the login node's own format is.
      ...['env', 'SLURM_TIME_FORMAT=standard', 'squeue', '--me', '--noheader', '--array', '--states=all'],
      ...[`--name=${this.jobs.name}`, format],
    ]);
    const listed = new Map<number, ListedTask>();
    // For a share that was submitted several times, the last task counts. Numbers of jobs do not tell which that is:
    // each of several clusters has its own.
    for (const line of byTime(lines, 4)) {
      const [number = '', index = '', state = '', node = '', submitted = '', reason = ''] = line;
      if (!/^\d+$/.test(index)) continue;
      const [job, share] = [Number(number), Number(index)];
      const last = this.last.get(share);
      if (job !== last?.job && submitted <= (last?.submitted ?? '')) continue;
      const task = toTask(job, share, state, node, reason);
      listed.set(share, task);
      const at = job === last?.job ? last.at : performance.now();
      this.last.set(share, { job, submitted, at, ended: task.state === 'ended' });
    }
    const held = [...listed.values()].filter((task) => task.held).map(({ job, share }) => `${job}_${share}`);
    if (held.length > 0) await cancel(this.jobs, held).catch(() => undefined);
    const gone = [...this.last].filter(([share, { ended }]) => !ended && !listed.has(share));
    const accounted = gone.length === 0 ? [] : await this.accounted(gone.map(([, { job }]) => job));
    const forgotten = gone.map(([share, last]) => {
      const found = accounted.findLast((task) => task.share === share && task.job === last.job);
      const task = found ?? unlisted(share, last.at);
      last.ended = task.state === 'ended';
      return task;
    });
    return [...listed.values(), ...forgotten];
  }

  /**
   * How tasks ended that SLURM's controller has forgotten, if the cluster keeps accounts, in the order of their
   * submission: two clusters may have given one number to jobs of the same share. Some controllers forget within
   * seconds.
   */
  private async accounted(jobs: readonly number[]): Promise<ListedTask[]> {
    const lines = await list(this.jobs, [
      ...['env', 'SLURM_TIME_FORMAT=standard', 'sacct', '--noheader', '--allocations', '--parsable2'],
      ...[`--jobs=${[...new Set(jobs)].join(',')}`, '--format=JobID,State,NodeList,Submit'],
    ]).catch(() => []);
    return byTime(lines, 3)
      .map(([task = '', state = '', node = '']) => {
        const [job, share] = task.split('_').map(Number);
        return toTask(job ?? 0, share ?? 0, state.split(' ')[0] ?? '', node, '');
      })
      .filter((task) => task.state === 'ended');
  }

  lastOutput(share: number): string | null {
    const path = `logs/slurm-${this.last.get(share)?.job}_${share}.log`;
    try {
      const log = readPlain(pathInRun(this.run.folder, path), MOST_LOG_BYTES);
      return log?.toString('utf8').trim() ?? null;
    } catch {
      return null;
    }
  }

  async cancel(): Promise<void> {
    await cancel(this.jobs);
    forget(this.run);
    this.last.clear();
  }
}

/**
 * Ends the jobs that an earlier start of a run left in SLURM, because the run now computes elsewhere. Returns
 * their name if they could not be ended, and remembers it; null if there are none.
 */
export async function endEarlierJobs(run: Omit<ClusterRun, 'program'>): Promise<string | null> {
  const jobs = recalled(run);
  if (!jobs) return null;
  try {
    await cancel(jobs);
    forget(run);
    return null;
  } catch {
    return jobs.name;
  }
}

/**
 * Why SLURM would not accept the job of a run, checked before anything is created for it; null if it would,
 * or does not answer.
 */
export async function refusedBySlurm(choice: SlurmChoice): Promise<AppError | null> {
  const { script, login } = choice;
  try {
    const { code, errors } = await ask(login, ['sbatch', '--test-only'], script);
    if (code === 0 || !LASTING_REFUSAL.test(errors)) return null;
    return (/array/i.test(errors) ? await tooManyShares(choice) : null) ?? refusal(errors);
  } catch {
    // SLURM may respond later, once the run is prepared.
    return null;
  }
}

/** SLURM itself says only that the array is invalid. Null if the array is not too long, or nobody knows. */
async function tooManyShares({ script, shares, login }: SlurmChoice): Promise<AppError | null> {
  const cluster = sbatchOption(script, 'clusters', 'M') ?? null;
  const { output } = await ask(login, ['scontrol', ...among(cluster), 'show', 'config']);
  // Tasks are numbered below it, and ours from 1.
  const most = Number(/^MaxArraySize\s*=\s*(\d+)/m.exec(output)?.[1]) - 1;
  if (!(shares > most)) return null;
  return appError('cluster_failed', message('slurm.array', { shares, most }));
}

/** In the user's data folder and not in the run's, so that nobody's folder decides which jobs are cancelled. */
const jobsFile = ({ context, runId }: { context: EngineContext; runId: string }): string =>
  join(context.paths.dataDir, 'clusters', `${runId}.json`);

function remember(run: ClusterRun, jobs: Jobs): void {
  mkdirSync(dirname(jobsFile(run)), { recursive: true, mode: 0o700 });
  writeFileSync(jobsFile(run), JSON.stringify(jobs), { mode: 0o600 });
}

const forget = (run: Omit<ClusterRun, 'program'>): void => rmSync(jobsFile(run), { force: true });

function recalled(run: Omit<ClusterRun, 'program'>): Jobs | null {
  try {
    const jobs = parseJson(jobsSchema, readFileSync(jobsFile(run), 'utf8'));
    return jobs?.folder === run.folder ? jobs : null;
  } catch {
    return null;
  }
}

function toTask(job: number, share: number, state: string, node: string, reason: string): ListedTask {
  const held = HELD_FOR_GOOD.test(reason);
  const task = { share, job, held, node: /^[\w.-]+$/.test(node) ? node : null };
  if (RUNNING.test(state)) return { ...task, state: 'running', reason: null };
  if (held || ENDED.test(state)) return { ...task, state: 'ended', reason: plain(held ? reason : state) };
  const known = EXPLAINED.find((one) => one === (reason || 'None'));
  const explained = known ? message(`slurm.reason.${known}`) : plain(reason);
  return { ...task, state: HOPELESS.test(reason) ? 'hopeless' : 'waiting', reason: explained };
}

function unlisted(share: number, at: number): ShareTask {
  if (performance.now() - at < UNKNOWN_MS)
    return { share, state: 'waiting', node: null, reason: message('slurm.reason.None') };
  return { share, state: 'ended', node: null, reason: message('slurm.unknown') };
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
function refusal(errors: string): AppError {
  const lines = errors.split('\n').filter((line) => /error|failure/i.test(line));
  const words = lines.length === 0 ? errors : lines.join('; ').replaceAll(/sbatch: |error: /g, '');
  return appError('cluster_failed', message('slurm.refused', { words: words.trim().slice(0, 400) }));
}

const failed = (cause: Message): AppFailure => appFailure('cluster_failed', cause);
