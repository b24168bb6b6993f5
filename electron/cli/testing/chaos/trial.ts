import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REAL_PYTHON } from '../../../engine/testing/realFiles.ts';
import { ended, MANY_PARTS, virnucpro, type Ending, type ProcessLimits } from '../commandLineProcess.ts';
import { backendProcesses, MARK, markedProcesses } from '../markedProcesses.ts';
import { pause } from '../waiting.ts';

/** No command of these small runs takes so long; one that does has hung. */
const HANGS_MS = 400_000;
const MOST_RESUMES = 4;
const SAMPLE_EVERY_MS = 200;

export interface TrialSetting {
  input: string;
  /** How long the run takes undisturbed. */
  wholeMs: number;
  random: () => number;
}

export interface Started {
  child: ChildProcess;
  end: Promise<Ending>;
  hasEnded: () => boolean;
}

/** One run that is disturbed and then brought to its end, and what was seen meanwhile. */
export class Trial {
  readonly setting: TrialSetting;
  /** What a disk may be mounted at, and the run's folder in it. */
  readonly place: string;
  readonly folder: string;
  /** Processes killed, and moments at which that was done. */
  kills = 0;
  killMoments = 0;
  hung = 0;
  peakMemoryBytes = 0;
  /** From the start of a resume until it has scored a part or ended. */
  readonly recoverMs: number[] = [];
  /** What a command said that ended with an error and without a next step. */
  readonly unworded: string[] = [];

  constructor(place: string, setting: TrialSetting) {
    this.place = place;
    this.folder = join(place, 'run');
    this.setting = setting;
  }

  /** A moment, evenly distributed over this share of an undisturbed run. */
  moment(share = 1): number {
    return this.setting.random() * share * this.setting.wholeMs;
  }

  below(limit: number): number {
    return Math.floor(this.setting.random() * limit);
  }

  /** Begins the run, or goes on with what is there of it. */
  start(limits: ProcessLimits = {}, python = REAL_PYTHON): Started {
    if (!existsSync(join(this.folder, 'run.db'))) {
      const { input } = this.setting;
      return this.command(['predict', input, '-o', this.folder, ...MANY_PARTS, '--python', python], limits);
    }
    const started = this.command(['resume', this.folder, '--python', python], limits);
    void this.#timeRecovery(started);
    return started;
  }

  command(args: string[], limits: ProcessLimits = {}): Started {
    const child = virnucpro([...args, '-q'], {
      ...limits,
      env: { [MARK]: this.folder, ...limits.env },
    });
    let over = false;
    const memory = setInterval(() => {
      this.peakMemoryBytes = Math.max(this.peakMemoryBytes, peakMemory(child.pid));
    }, SAMPLE_EVERY_MS);
    const hangs = setTimeout(() => {
      this.hung += 1;
      for (const { pid } of markedProcesses(this.folder)) killNow(pid);
    }, HANGS_MS);
    const end = ended(child).then((ending) => {
      over = true;
      clearInterval(memory);
      clearTimeout(hangs);
      const isError = ending.code !== null && ending.code !== 0 && ending.code < 128;
      const isWorded =
        ending.said.includes('What to do: ') && !/Unexpected error|\n {4}at /.test(ending.said);
      if (isError && !isWorded) this.unworded.push(`exit code ${ending.code}: ${ending.said.slice(-500)}`);
      return ending;
    });
    return { child, end, hasEnded: () => over };
  }

  async #timeRecovery(started: Started): Promise<void> {
    const [begun, before] = [performance.now(), this.scoredParts()];
    while (!started.hasEnded() && this.scoredParts() <= before) await pause(50);
    const { code } = started.hasEnded() ? await started.end : { code: 0 };
    if (code === 0) this.recoverMs.push(performance.now() - begun);
  }

  scoredParts(): number {
    const folder = join(this.folder, 'work', 'scores');
    return existsSync(folder) ? readdirSync(folder).length : 0;
  }

  /** Kills at once; numbers of processes that are gone already don't count. */
  kill(...pids: (number | undefined)[]): void {
    const killed = pids.filter((pid) => pid !== undefined && killNow(pid)).length;
    this.kills += killed;
    if (killed > 0) this.killMoments += 1;
  }

  backend(module = ''): number[] {
    return backendProcesses(this.folder, module).map(({ pid }) => pid);
  }

  /** The engine and all its processes, in random order. */
  killWhole(): void {
    const processes = markedProcesses(this.folder).map(({ pid }) => ({ pid, order: this.setting.random() }));
    this.kill(...processes.sort((a, b) => a.order - b.order).map(({ pid }) => pid));
  }

  /** Goes on until the run is done; answers with the last command's ending. */
  async finish(): Promise<Ending> {
    let ending: Ending = { code: null, said: '' };
    for (let i = 0; i < MOST_RESUMES && ending.code !== 0; i++) ending = await this.start().end;
    return ending;
  }
}

/** Waits, but not longer than the process lives. */
export async function pauseWhile(started: Started, ms: number): Promise<boolean> {
  for (const begin = performance.now(); performance.now() - begin < ms && !started.hasEnded();) {
    await pause(10);
  }
  return !started.hasEnded();
}

export function killNow(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

function peakMemory(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
