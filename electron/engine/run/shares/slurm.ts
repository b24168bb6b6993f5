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
/** Who ended a task, by its last state: all others than these still wait, or run. */
const ENDED_BY = {
  person: /^CANCELLED/,
  scheduler: /^(DEADLINE|PREEMPTED|REVOKED|TIMEOUT)$/,
  node: /^(BOOT_FAIL|NODE_FAIL)$/,
  program: /^(COMPLETED|FAILED|OUT_OF_MEMORY)$/,
} as const;
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
  /** The cluster that took the job, where SLURM names one. */
  cluster: z
    .string()
    .regex(/^\w[\w.-]*$/)
    .nullable(),
});
type Jobs = z.infer<typeof jobsSchema>;

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

/** The columns of each line that a program prints about these jobs. */
async function list({ login, cluster }: Jobs, words: readonly string[]): Promise<string[][]> {
  const { code, output, errors } = await ask(login, [...words, ...among(cluster)]);
  if (code !== 0) throw unreachable(login, errors);
  return output.split('\n').map((line) => line.split('|').map((word) => word.trim()));
}

/** Cancels the jobs. Rejects if they may continue. Without jobs that match, scancel is content. */
async function cancel({ login, cluster, name }: Jobs): Promise<void> {
  const { code, errors } = await ask(login, ['scancel', ...among(cluster), `--name=${name}`]);
  if (code !== 0 && !/invalid job id|already complet/i.test(errors)) throw unreachable(login, errors);
}

function unreachable(login: string | null, output: string): AppFailure {
  const line = output.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
  return failed(
    login === null ? message('slurm.silent', { line }) : message('slurm.silent_there', { login, line }),
  );
}

/** Submits the shares of a run as one array job, and follows it by its name. */
export class SlurmScheduler implements Scheduler {
  private readonly choice: SlurmChoice;
  private readonly run: ClusterRun;
  private jobs: Jobs;
  private readonly last = new Map<number, LastJob>();

  constructor(choice: SlurmChoice, run: ClusterRun) {
    this.choice = choice;
    this.run = run;
    // Each start has a name of its own, since SLURM lists tasks for minutes that were cancelled by a pause.
    const name = `virnucpro-${randomBytes(8).toString('hex')}-${choice.shares}`;
    this.jobs = { folder: run.folder, name, login: choice.login, cluster: null };
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
    if (earlier?.name.endsWith(`-${shares}`) && earlier.login === login) this.jobs = earlier;
    else if (earlier) await cancel(earlier);
    remember(this.run, this.jobs);
    return `S${output.trim().replace(/^s/, '').slice(0, 100)}`;
  }

  async submit(shares: readonly number[]): Promise<void> {
    const { folder, program } = this.run;
    const { script, shares: of, login } = this.choice;
    replaceInRun(folder, SCRIPT, Buffer.from(script));
    makeFolderInRun(folder, 'logs');
    const atOnce = /%\d+$/.exec(sbatchOption(script, 'array', 'a') ?? '')?.[0] ?? '';
    const { code, output, errors } = await ask(login, [
      ...['sbatch', '--parsable', `--job-name=${this.jobs.name}`, `--chdir=${folder}`, '--open-mode=append'],
      `--output=${folder.replaceAll('%', '%%')}/logs/slurm-%A_%a.log`,
      `--array=${ranges(shares)}${atOnce}`,
      ...[pathInRun(folder, SCRIPT), folder, program ?? 'virnucpro', String(of)],
    ]);
    // sbatch prints `number` or `number;cluster`; a site's own messages may precede it.
    const [, job, cluster] = /^(\d+)(?:;([\w.-]+))?$/m.exec(output) ?? [];
    if (code !== 0 || job === undefined) {
      if (/contact slurm controller|timed out/i.test(errors)) throw unreachable(login, errors);
      throw new AppFailure(refusal(errors || output));
    }
    this.jobs.cluster = cluster ?? null;
    remember(this.run, this.jobs);
    for (const share of shares) this.last.set(share, { job: Number(job), at: performance.now() });
  }

  async tasks(statuses: ReadonlyMap<number, unknown>): Promise<ShareTask[]> {
    const lines = await list(this.jobs, [
      ...['squeue', '--me', '--noheader', '--array', '--states=all', `--name=${this.jobs.name}`],
      '--Format=ArrayJobID:|,ArrayTaskID:|,State:|,NodeList:|,Reason:200',
    ]);
    const listed = new Map<number, ShareTask>();
    const cancelled = new Set<number>();
    // Of the tasks of a share, the one with the highest number was submitted last.
    for (const [number, index = '', state = '', node = '', reason = ''] of lines.toSorted(byJob)) {
      const [job, share] = [Number(number), Number(index)];
      const last = this.last.get(share);
      if (!/^\d+$/.test(index) || !statuses.has(share) || job < (last?.job ?? 0)) continue;
      if (job !== last?.job) this.last.set(share, { job, at: performance.now() });
      listed.set(share, toTask(share, state, node, reason));
      if (state === 'CANCELLED') cancelled.add(share);
      else cancelled.delete(share);
    }
    const unclear = [...statuses.keys()].flatMap((share) => {
      const last = this.last.get(share);
      const isForgotten = !listed.has(share) && last && performance.now() - last.at >= UNKNOWN_MS;
      return last && (isForgotten || cancelled.has(share)) ? [[share, last.job] as const] : [];
    });
    const accounted = unclear.length === 0 ? [] : await this.accounted(unclear.map(([, job]) => job));
    for (const [share, job] of unclear) {
      const found = accounted.find(([task]) => task === `${job}_${share}`);
      const [, state = '', node = ''] = found ?? [];
      const ended = found && toTask(share, state, node, '');
      if (ended?.state === 'ended') listed.set(share, ended);
      else if (!listed.has(share))
        listed.set(share, { share, state: 'ended', node: null, reason: message('slurm.unknown') });
    }
    return [...listed.values()];
  }

  /**
   * How tasks ended that SLURM's controller has forgotten, or who cancelled them, if the cluster keeps
   * accounts. Some controllers forget within seconds.
   */
  private accounted(jobs: readonly number[]): Promise<string[][]> {
    return list(this.jobs, [
      ...['sacct', '--noheader', '--allocations', '--parsable2', '--format=JobID,State,NodeList'],
      `--jobs=${[...new Set(jobs)].join(',')}`,
    ]).catch(() => []);
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
    return refusal(errors);
  } catch {
    // SLURM may respond later, once the run is prepared.
    return null;
  }
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

const byJob = ([a]: readonly string[], [b]: readonly string[]): number => Number(a) - Number(b);

function toTask(share: number, state: string, where: string, reason: string): ShareTask {
  const node = /^[\w.-]+$/.test(where) ? where : null;
  if (RUNNING.test(state)) return { share, state: 'running', node, reason: null };
  const [, by = null] = /^CANCELLED by (\d+)/.exec(state) ?? [];
  if (by !== null) return { share, state: 'ended', node, reason: message('slurm.ended.by', { uid: by }) };
  for (const who of ['person', 'scheduler', 'node', 'program'] as const)
    if (ENDED_BY[who].test(state))
      return { share, state: 'ended', node, reason: message(`slurm.ended.${who}`, { state }) };
  const known = EXPLAINED.find((one) => one === (reason || 'None'));
  return { share, state: 'waiting', node, reason: known ? message(`slurm.reason.${known}`) : plain(reason) };
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
