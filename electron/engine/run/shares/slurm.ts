import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { appError, AppFailure } from '../../../contract/errors.ts';
import type { SlurmChoice } from '../../../contract/cluster.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import { quotedForShell } from '../../../contract/terminal/quotedForShell.ts';
import type { EngineContext } from '../../engineContext.ts';
import { makeFolderInRun, pathInRun, readPlain, replaceInRun } from '../../files/runFiles.ts';
import type { Scheduler, ShareTask } from './scheduler.ts';
import { describeEnd, describeWaiting, isHopeless, refusal, stateOf } from './slurmAnswers.ts';

/** A busy controller takes long to answer. */
const PATIENCE_MS = 60_000;
/** SLURM forgets a task some minutes after its end, and knows a new one a moment after it was submitted. */
const UNKNOWN_MS = 60_000;
const LOGIN = /^[A-Za-z0-9_][A-Za-z0-9_.@:%+-]*$/;
const SCRIPT = 'work/slurm.sh';
const MOST_LOG_BYTES = 1 << 20;

/** Variables of ours that SLURM's programs get, and by way of sbatch a task. */
const KEPT =
  /^(HOME|LANG|LOGNAME|PATH|SHELL|SSH_AUTH_SOCK|TERM|TMPDIR|USER|LC_.*|KRB5.*|SLURM_CONF|SLURM_CLUSTERS|SBATCH_.*)$/;

const jobsSchema = z.object({
  folder: z.string(),
  shares: z.int(),
  jobs: z.array(z.object({ job: z.string().regex(/^\d+$/), shares: z.array(z.int().positive()) })),
});
type Jobs = z.infer<typeof jobsSchema>;

export interface ClusterRun {
  context: EngineContext;
  folder: string;
  runId: string;
  /** What starts this program on a node; null where nodes have their own. */
  program: string | null;
}

interface Answer {
  code: number;
  output: string;
  errors: string;
}

/**
 * sbatch, squeue and scancel. The numbers of the jobs are kept in the user's data folder and not in the run's: nobody's folder says
 * what is cancelled.
 */
export class SlurmScheduler implements Scheduler {
  private readonly choice: SlurmChoice;
  private readonly run: ClusterRun;
  private readonly file: string;
  private readonly ssh: readonly string[];
  private readonly sockets: string | null;
  private readonly submittedAt = new Map<number, number>();
  private jobs: Jobs['jobs'];

  constructor(choice: SlurmChoice, run: ClusterRun) {
    this.choice = choice;
    this.run = run;
    this.file = join(run.context.paths.dataDir, 'clusters', `${run.runId}.json`);
    this.jobs = this.recall();
    // One connection for all calls, with a socket in a path of its own: a socket's may have some 100 characters.
    this.sockets = choice.login === null ? null : mkdtempSync(join(tmpdir(), 'vnp-'));
    const options = ['BatchMode=yes', 'ConnectTimeout=20', 'ServerAliveInterval=15', 'ControlMaster=auto'];
    const own = [...options, `ControlPath=${this.sockets ?? ''}/%C`, 'ControlPersist=120'];
    this.ssh = choice.login === null ? [] : ['ssh', ...own.flatMap((option) => ['-o', option]), choice.login];
  }

  get job(): string | null {
    return this.jobs.length === 0 ? null : this.jobs.map(({ job }) => job).join(', ');
  }

  async open(): Promise<string> {
    const { login } = this.choice;
    if (login !== null && !LOGIN.test(login))
      throw failed(
        `${login} is not the name of a computer.`,
        'Name the login node as ssh takes it, such as me@cluster.example.org.',
      );
    const { code, output, errors } = await this.ask(['sbatch', '--version']);
    if (code === 127 || errors.includes('not found'))
      throw failed(
        `SLURM's program sbatch was not found on ${login ?? 'this computer'}.`,
        "Name the cluster's login node, or start VirNucPro there. It may need a module to be loaded.",
      );
    if (code !== 0) throw this.unreachable(errors);
    return `S${output.trim().replace(/^s/, '').slice(0, 100)}`;
  }

  async submit(shares: readonly number[], excluded: readonly string[]): Promise<void> {
    const { folder, program } = this.run;
    replaceInRun(folder, SCRIPT, Buffer.from(this.choice.script));
    makeFolderInRun(folder, 'logs');
    const atOnce = /^#SBATCH\s+(?:--array[= ]|-a ?)\s*\S*(%\d+)/m.exec(this.choice.script)?.[1] ?? '';
    const { code, output, errors } = await this.ask([
      ...['sbatch', '--parsable', `--chdir=${folder}`, '--open-mode=append'],
      `--output=${folder.replaceAll('%', '%%')}/logs/slurm-%A_%a.log`,
      `--array=${ranges(shares)}${atOnce}`,
      ...(excluded.length === 0 ? [] : [`--exclude=${excluded.join(',')}`]),
      ...[pathInRun(folder, SCRIPT), folder, program ?? 'virnucpro', String(this.choice.shares)],
    ]);
    // `number` or `number;cluster`; a site's own messages may stand before it.
    const job = /^(\d+)(?:;[\w.-]+)?$/m.exec(output)?.[1];
    if (code !== 0 || job === undefined) {
      if (/contact slurm controller/i.test(errors)) throw this.unreachable(errors);
      throw new AppFailure(refusal(errors || output));
    }
    for (const share of shares) this.submittedAt.set(share, performance.now());
    this.jobs.push({ job, shares: [...shares] });
    this.remember();
  }

  async tasks(): Promise<ShareTask[] | null> {
    if (this.jobs.length === 0) return [];
    const ids = this.jobs.map(({ job }) => job).join(',');
    const asked = [
      'squeue',
      '--noheader',
      '--array',
      '--states=all',
      `--jobs=${ids}`,
      '--Format=ArrayJobID:|,ArrayTaskID:|,State:|,NodeList:|,Reason:200',
    ];
    let answer: Answer;
    try {
      answer = await this.ask(asked);
    } catch {
      return null;
    }
    const isUnknown = /invalid job id/i.test(answer.errors);
    if (answer.code !== 0 && !isUnknown) return null;
    const listed = new Map<string, ShareTask>();
    for (const line of answer.output.split('\n')) {
      const [job = '', share = '', state = '', node = '', reason = ''] = line
        .split('|')
        .map((word) => word.trim());
      if (/^\d+$/.test(share)) listed.set(`${job}_${share}`, toTask(Number(share), state, node, reason));
    }
    // Of a share that was submitted several times, the last task counts.
    const last = new Map(
      this.jobs.flatMap(({ job, shares }) => shares.map((share) => [share, job] as const)),
    );
    return [...last].map(([share, job]) => listed.get(`${job}_${share}`) ?? this.unlisted(share));
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
    if (this.jobs.length > 0) await this.ask(['scancel', ...this.jobs.map(({ job }) => job)]);
    this.jobs = [];
    rmSync(this.file, { force: true });
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

  /** Rejects with AppFailure where nothing could be asked. */
  private async ask(words: readonly string[]): Promise<Answer> {
    const [file = '', ...args] =
      this.ssh.length > 0 ? [...this.ssh, words.map(quotedForShell).join(' ')] : words;
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => KEPT.test(name)));
    const done = await execa(file, args, {
      env,
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
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

  /** Of an earlier start of this program, for the same folder and as many shares. */
  private recall(): Jobs['jobs'] {
    try {
      const known = parseJson(jobsSchema, readFileSync(this.file, 'utf8'));
      return known?.folder === this.run.folder && known.shares === this.choice.shares ? known.jobs : [];
    } catch {
      return [];
    }
  }

  private remember(): void {
    const { folder } = this.run;
    const jobs: Jobs = { folder, shares: this.choice.shares, jobs: this.jobs };
    mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
    writeFileSync(this.file, JSON.stringify(jobs), { mode: 0o600 });
  }
}

function toTask(share: number, slurmState: string, node: string, slurmReason: string): ShareTask {
  const state = stateOf(slurmState);
  const reason =
    state === 'running' ? '' : state === 'ended' ? describeEnd(slurmState) : describeWaiting(slurmReason);
  return {
    share,
    state,
    node: /^[\w.-]+$/.test(node) ? node : null,
    reason,
    hopeless: state === 'waiting' && isHopeless(slurmReason),
  };
}

/** Such as `1-8,11`: there may be thousands, and a command line is short. */
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
