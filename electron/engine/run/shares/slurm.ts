import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { appError, AppFailure, type AppError } from '../../../contract/errors.ts';
import type { SlurmChoice } from '../../../contract/cluster.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import { quotedForShell } from '../../../contract/terminal/predictCommand.ts';
import type { EngineContext } from '../../engineContext.ts';
import { makeFolderInRun, pathInRun, readPlain, replaceInRun } from '../../files/runFiles.ts';
import type { Scheduler, ShareTask } from './scheduler.ts';
import {
  describeEnd,
  describeWaiting,
  isHeldForGood,
  isHopeless,
  lastingRefusal,
  refusal,
  stateOf,
} from './slurmAnswers.ts';

/** A busy controller takes long to answer. */
const PATIENCE_MS = 60_000;
/**
 * SLURM forgets a task some minutes after its end, and lists a new one only a moment after it was submitted.
 */
const UNKNOWN_MS = 60_000;
const CLUSTER = /^[\w.-]+$/;
const LOGIN = /^[A-Za-z0-9_][A-Za-z0-9_.@:%+-]*$/;
const SCRIPT = 'work/slurm.sh';
const MOST_LOG_BYTES = 1 << 20;

/** How scancel reports jobs that have ended. */
const HAS_ENDED = /invalid job id|already complet/i;

/** Our variables that SLURM's programs inherit, and through sbatch a task. */
const KEPT =
  /^(HOME|LANG|LOGNAME|PATH|SHELL|SSH_AUTH_SOCK|TERM|TMPDIR|USER|LC_.*|KRB5.*|SLURM_CONF|SLURM_CLUSTERS|SBATCH_.*)$/;

const jobsSchema = z.object({
  folder: z.string(),
  shares: z.int(),
  login: z.string().nullable(),
  jobs: z.array(
    z.object({
      job: z.string().regex(/^\d+$/),
      /** Set if the script names one of several clusters. */
      cluster: z.string().regex(CLUSTER).nullable(),
      shares: z.array(z.int().positive()),
    }),
  ),
  /** Shares of a job that was given to sbatch and that SLURM may have taken without an answer. */
  unanswered: z.array(z.int().positive()).default([]),
});
type Jobs = z.infer<typeof jobsSchema>;
type Job = Jobs['jobs'][number];
/** What was given to SLURM. */
type Given = { readonly jobs: readonly Job[]; readonly unanswered: readonly number[] };

export interface ClusterRun {
  context: EngineContext;
  folder: string;
  runId: string;
  /** The command that starts this program on a node; null if nodes have their own. */
  program: string | null;
  /** Adds a warning to the run's notes. */
  warn: (text: string) => void;
}

interface Answer {
  code: number;
  output: string;
  errors: string;
}

/**
 * Runs sbatch, squeue and scancel. Job numbers are stored in the user's data folder and not in the run's, so
 * that nobody's folder decides which jobs are cancelled.
 */
export class SlurmScheduler implements Scheduler {
  readonly excludes = true;
  private readonly choice: SlurmChoice;
  private readonly run: ClusterRun;
  private readonly file: string;
  private readonly ssh: readonly string[];
  private readonly sockets: string | null;
  private readonly submittedAt = new Map<number, number>();
  /** Tasks that SLURM holds for good, by share: they are cancelled before the share is resubmitted. */
  private readonly held = new Map<number, { job: Job; task: string }>();
  private jobs: Job[] = [];
  private unanswered: readonly number[] = [];
  private earlier: Jobs | null;

  constructor(choice: SlurmChoice, run: ClusterRun) {
    this.choice = choice;
    this.run = run;
    this.file = jobsFile(run);
    this.earlier = this.recall();
    if (this.earlier?.shares === choice.shares && this.earlier.login === choice.login) {
      ({ jobs: this.jobs, unanswered: this.unanswered } = this.earlier);
      this.earlier = null;
    }
    // One connection for all calls, with a short socket path: a socket's path is limited to about 100
    // characters.
    this.sockets = choice.login === null ? null : mkdtempSync(join(tmpdir(), 'vnp-'));
    const options = ['BatchMode=yes', 'ConnectTimeout=20', 'ServerAliveInterval=15', 'ControlMaster=auto'];
    const own = [...options, `ControlPath=${this.sockets ?? ''}/%C`, 'ControlPersist=120'];
    this.ssh = choice.login === null ? [] : ['ssh', ...own.flatMap((option) => ['-o', option]), choice.login];
  }

  get job(): string | null {
    return this.jobs.length === 0 ? null : this.jobs.map(({ job }) => job).join(', ');
  }

  async open(): Promise<string> {
    this.checkLogin();
    const { login } = this.choice;
    const { code, output, errors } = await this.ask(['sbatch', '--version']);
    if (code === 127 || errors.includes('not found'))
      throw failed(
        `SLURM's program sbatch was not found on ${login ?? 'this computer'}.`,
        "Name the cluster's login node, or start VirNucPro there. It may need a module to be loaded.",
      );
    if (code !== 0) throw this.unreachable(errors);
    await this.endEarlier();
    return `S${output.trim().replace(/^s/, '').slice(0, 100)}`;
  }

  /**
   * Why SLURM would not accept the job, checked before anything is created for it; null if it would, or does
   * not answer.
   */
  async refused(): Promise<AppError | null> {
    this.checkLogin();
    const { code, errors } = await this.ask(['sbatch', '--test-only'], this.choice.script);
    return code === 0 ? null : lastingRefusal(errors);
  }

  private checkLogin(): void {
    const { login } = this.choice;
    if (login !== null && !LOGIN.test(login))
      throw failed(
        `${login} is not the name of a computer.`,
        'Name the login node as ssh takes it, such as me@cluster.example.org.',
      );
  }

  async submit(shares: readonly number[], excluded: readonly string[]): Promise<void> {
    const { folder, program } = this.run;
    // The same shares must not be submitted twice: `tasks` looks for the job first.
    if (this.unanswered.length > 0)
      throw this.unreachable('it may have taken a job, and squeue does not say');
    replaceInRun(folder, SCRIPT, Buffer.from(this.choice.script));
    makeFolderInRun(folder, 'logs');
    for (const share of shares) await this.endHeld(share);
    const own = /^#SBATCH\s+(?:--exclude[= ]|-x ?)\s*(\S+)/m.exec(this.choice.script)?.[1];
    const avoided = [...(own === undefined ? [] : [own]), ...excluded];
    const atOnce = /^#SBATCH\s+(?:--array[= ]|-a ?)\s*\S*(%\d+)/m.exec(this.choice.script)?.[1] ?? '';
    this.unanswered = shares;
    this.remember();
    const { code, output, errors } = await this.ask([
      ...['sbatch', '--parsable', `--chdir=${folder}`, '--open-mode=append'],
      `--output=${folder.replaceAll('%', '%%')}/logs/slurm-%A_%a.log`,
      `--array=${ranges(shares)}${atOnce}`,
      // This overrides the script's own option.
      ...(excluded.length === 0 ? [] : [`--exclude=${avoided.join(',')}`]),
      ...[pathInRun(folder, SCRIPT), folder, program ?? 'virnucpro', String(this.choice.shares)],
    ]);
    // sbatch prints `number` or `number;cluster`; a site's own messages may precede it.
    const [, job, cluster = null] = /^(\d+)(?:;([\w.-]+))?$/m.exec(output) ?? [];
    if (code !== 0 || job === undefined) {
      if (/contact slurm controller|timed out/i.test(errors)) throw this.unreachable(errors);
      throw new AppFailure(refusal(errors || output));
    }
    for (const share of shares) this.submittedAt.set(share, performance.now());
    this.add([{ job, cluster, shares: [...shares] }]);
  }

  private get given(): Given {
    return { jobs: this.jobs, unanswered: this.unanswered };
  }

  private add(jobs: readonly Job[]): void {
    this.jobs.push(...jobs);
    this.unanswered = [];
    this.remember();
  }

  /**
   * The job that SLURM took although sbatch gave no answer, such as when it timed out. It is known by its
   * folder. Null if squeue does not answer.
   */
  private async takenUnanswered({ jobs, unanswered }: Given): Promise<Job[] | null> {
    if (unanswered.length === 0) return [];
    const cluster =
      /^#SBATCH\s+(?:--clusters[= ]|-M ?)\s*([\w.-]+)\s*$/m.exec(this.choice.script)?.[1] ?? null;
    const there = cluster === null ? [] : [`--clusters=${cluster}`];
    const asked = ['--me', '--noheader', '--states=PENDING,RUNNING,SUSPENDED'];
    const lines = await this.list(['squeue', ...there, ...asked, '--Format=ArrayJobID:|,WorkDir:4096']);
    const known = new Set(jobs.map(({ job }) => job));
    const found = lines?.flatMap(([job = '', ...folder]) =>
      /^\d+$/.test(job) && !known.has(job) && folder.join('|') === this.run.folder ? [job] : [],
    );
    return found === undefined
      ? null
      : [...new Set(found)].map((job) => ({ job, cluster, shares: [...unanswered] }));
  }

  async tasks(): Promise<ShareTask[] | null> {
    if (this.unanswered.length > 0) {
      const taken = await this.takenUnanswered(this.given);
      if (taken === null) return null;
      this.add(taken);
    }
    const listed = new Map<string, ShareTask>();
    for (const [cluster, ids] of byCluster(this.jobs)) {
      const format = '--Format=ArrayJobID:|,ArrayTaskID:|,State:|,NodeList:|,Reason:200';
      const asked = ['--noheader', '--array', '--states=all', `--jobs=${ids.join(',')}`, format];
      const lines = await this.list(['squeue', ...cluster, ...asked]);
      if (lines === null) return null;
      for (const [job = '', share = '', state = '', node = '', reason = ''] of lines)
        if (/^\d+$/.test(share)) listed.set(`${job}_${share}`, toTask(Number(share), state, node, reason));
    }
    // For a share that was submitted several times, the last task counts.
    const last = new Map(this.jobs.flatMap((job) => job.shares.map((share) => [share, job] as const)));
    const gone = [...last].filter(([share, { job }]) => !listed.has(`${job}_${share}`));
    const accounted = gone.length === 0 ? listed : await this.accounted(gone.map(([, job]) => job));
    return [...last].map(([share, job]) => {
      const task = `${job.job}_${share}`;
      const found = listed.get(task) ?? accounted.get(task) ?? this.unlisted(share);
      if (found.held) this.held.set(share, { job, task });
      return found;
    });
  }

  /**
   * How tasks ended that SLURM's controller has forgotten, if the cluster keeps accounts. Some controllers
   * forget within seconds.
   */
  private async accounted(jobs: readonly Job[]): Promise<Map<string, ShareTask>> {
    const ended = new Map<string, ShareTask>();
    for (const [cluster, ids] of byCluster(jobs)) {
      const asked = ['--noheader', '--allocations', '--array', '--parsable2', `--jobs=${ids.join(',')}`];
      const lines = await this.list(['sacct', ...cluster, ...asked, '--format=JobID,State,NodeList']);
      for (const [task = '', state = '', node = ''] of lines ?? []) {
        const found = toTask(Number(/_(\d+)$/.exec(task)?.[1]), state.split(' ')[0] ?? '', node, '');
        if (found.state === 'ended') ended.set(task, found);
      }
    }
    return ended;
  }

  /** The columns of each line; null without an answer. */
  private async list(words: readonly string[]): Promise<string[][] | null> {
    try {
      const { code, output, errors } = await this.ask(words);
      if (code !== 0 && !/invalid job id/i.test(errors)) return null;
      return output.split('\n').map((line) => line.split('|').map((word) => word.trim()));
    } catch {
      return null;
    }
  }

  lastWords(share: number): string | null {
    const job = this.jobs.findLast(({ shares }) => shares.includes(share))?.job;
    try {
      const log = readPlain(pathInRun(this.run.folder, `logs/slurm-${job}_${share}.log`), MOST_LOG_BYTES);
      return log?.toString('utf8').trim() ?? null;
    } catch {
      return null;
    }
  }

  async cancel(): Promise<void> {
    await this.endAll(this.given);
    this.jobs = [];
    this.unanswered = [];
  }

  /**
   * Ends jobs of an earlier start that this one does not follow, because it divides the run differently or
   * computes elsewhere.
   */
  private async endEarlier(): Promise<void> {
    if (this.earlier === null) return;
    await this.endAll(this.earlier);
    this.earlier = null;
  }

  private async endAll(known: Given): Promise<void> {
    const taken = await this.takenUnanswered(known);
    if (taken === null) throw this.unreachable('squeue does not say whether it took the last job');
    await this.end([...known.jobs, ...taken]);
    rmSync(this.file, { force: true });
  }

  /** Rejects if jobs may continue, so that they are remembered. */
  private async end(jobs: readonly Job[]): Promise<void> {
    for (const [cluster, ids] of byCluster(jobs)) {
      const { code, errors } = await this.ask(['scancel', ...cluster, ...ids]);
      const refused = errors.split('\n').filter((line) => line.trim() !== '' && !HAS_ENDED.test(line));
      if (code !== 0 && (refused.length > 0 || errors.trim() === '')) throw this.unreachable(errors);
    }
  }

  private async endHeld(share: number): Promise<void> {
    const { job, task } = this.held.get(share) ?? {};
    if (!job || task === undefined) return;
    await this.end([{ ...job, job: task }]);
    this.held.delete(share);
  }

  async close(): Promise<void> {
    if (this.sockets === null) return;
    const [ssh = '', ...options] = this.ssh;
    await execa(ssh, ['-O', 'exit', ...options], { reject: false, stdio: 'ignore', timeout: 5_000 });
    rmSync(this.sockets, { recursive: true, force: true });
  }

  private unlisted(share: number): ShareTask {
    const since = performance.now() - (this.submittedAt.get(share) ?? -Infinity);
    return since < UNKNOWN_MS
      ? { share, state: 'waiting', node: null, reason: describeWaiting(''), hopeless: false }
      : { share, state: 'ended', node: null, reason: 'SLURM knows nothing of it any more', hopeless: false };
  }

  /** Rejects with AppFailure if the program could not be run. */
  private async ask(words: readonly string[], input?: string): Promise<Answer> {
    const [file = '', ...args] =
      this.ssh.length > 0 ? [...this.ssh, words.map(quotedForShell).join(' ')] : words;
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => KEPT.test(name)));
    const done = await execa(file, args, {
      env,
      extendEnv: false,
      reject: false,
      ...(input === undefined ? { stdin: 'ignore' } : { input }),
      timeout: PATIENCE_MS,
      stripFinalNewline: false,
    });
    if (done.code === 'ENOENT') return { code: 127, output: '', errors: `${file}: not found` };
    if (done.timedOut) throw this.unreachable(`${words[0]} did not answer in ${PATIENCE_MS / 1000} s`);
    if (done.exitCode === undefined) throw this.unreachable(done.shortMessage ?? '');
    if (this.ssh.length > 0 && done.exitCode === 255) throw this.unreachable(done.stderr);
    return { code: done.exitCode, output: done.stdout, errors: done.stderr };
  }

  private unreachable(heard: string): AppFailure {
    const { login } = this.choice;
    const words = heard.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
    return failed(
      `SLURM on ${login ?? 'this computer'} gives no answer: ${words}`,
      login === null
        ? 'Try again later, or ask who runs the cluster.'
        : `See that "ssh -o BatchMode=yes ${login}" connects without asking for anything.`,
    );
  }

  /** The jobs of an earlier start of this program for the same folder. */
  private recall(): Jobs | null {
    const known = recalled(this.file);
    return known?.folder === this.run.folder ? known : null;
  }

  private remember(): void {
    const { folder } = this.run;
    const { shares, login } = this.choice;
    const jobs: Jobs = { folder, shares, login, jobs: this.jobs, unanswered: [...this.unanswered] };
    mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
    writeFileSync(this.file, JSON.stringify(jobs), { mode: 0o600 });
  }
}

/**
 * Ends the jobs that an earlier start of a run left in SLURM, because the run now computes elsewhere. Returns
 * those that could not be ended, which stay recorded; null if there are none.
 */
export async function endEarlierJobs(run: Omit<ClusterRun, 'program' | 'warn'>): Promise<string | null> {
  const known = recalled(jobsFile(run));
  if (known?.folder !== run.folder) return null;
  const { shares, login } = known;
  const choice = { kind: 'slurm', script: '', shares, login, on_processors: false } as const;
  const scheduler = new SlurmScheduler(choice, { ...run, program: null, warn: () => undefined });
  const { job } = scheduler;
  try {
    await scheduler.cancel();
    return null;
  } catch {
    return job;
  } finally {
    await scheduler.close();
  }
}

/** Why SLURM would not accept the job of a run that is about to be created; null if it does not answer. */
export async function refusedBySlurm(context: EngineContext, choice: SlurmChoice): Promise<AppError | null> {
  const run = { context, folder: '', runId: '', program: null, warn: () => undefined };
  const scheduler = new SlurmScheduler(choice, run);
  try {
    return await scheduler.refused();
  } catch {
    // SLURM may respond later, once the run is prepared.
    return null;
  } finally {
    await scheduler.close();
  }
}

const jobsFile = ({ context, runId }: Pick<ClusterRun, 'context' | 'runId'>): string =>
  join(context.paths.dataDir, 'clusters', `${runId}.json`);

function recalled(file: string): Jobs | null {
  try {
    return parseJson(jobsSchema, readFileSync(file, 'utf8')) ?? null;
  } catch {
    return null;
  }
}

/** Arguments of scancel and squeue for each cluster, with the numbers of the jobs there. */
function byCluster(jobs: readonly Job[]): [string[], string[]][] {
  const groups = Map.groupBy(jobs, ({ cluster }) => cluster);
  return [...groups].map(([cluster, own]) => [
    cluster === null ? [] : [`--clusters=${cluster}`],
    [...new Set(own.map(({ job }) => job))],
  ]);
}

function toTask(share: number, slurmState: string, node: string, slurmReason: string): ShareTask {
  const held = isHeldForGood(slurmReason);
  const state = held ? 'ended' : stateOf(slurmState);
  const reason =
    state === 'running'
      ? ''
      : state === 'ended' && !held
        ? describeEnd(slurmState)
        : describeWaiting(slurmReason);
  return {
    share,
    state,
    node: /^[\w.-]+$/.test(node) ? node : null,
    reason,
    hopeless: state === 'waiting' && isHopeless(slurmReason),
    held,
  };
}

/** For example `1-8,11`: there may be thousands of shares, and a command line is limited. */
function ranges(shares: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const share of shares.toSorted((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && share === last[1] + 1) last[1] = share;
    else runs.push([share, share]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

const failed = (cause: string, nextStep: string): AppFailure =>
  new AppFailure(appError('cluster_failed', cause, { nextStep }));
