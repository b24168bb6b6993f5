import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REAL_PYTHON, SAMPLE } from '../../../engine/testing/realFiles.ts';
import { randomNumbers } from '../../../engine/testing/randomNumbers.ts';
import { MANY_PARTS, succeeds } from '../commandLineProcess.ts';
import { markedProcesses } from '../markedProcesses.ts';
import { pause } from '../waiting.ts';
import { compareTables, tablesOf, type Tables } from './compareTables.ts';
import { unmount, unmountAtOnce } from './disks.ts';
import { type Disturbance, DISTURBANCES, drawDisturbance } from './disturbances.ts';
import { killNow, Trial, type TrialSetting } from './trial.ts';

/** Time that processes without an engine have to notice and end. */
const ORPHANS_END_MS = 60_000;

/** What became of all runs that were disturbed. */
export interface ChaosFigures {
  /** Runs disturbed; processes killed in them by SIGKILL, and at how many moments. */
  tried: number;
  kills: number;
  killMoments: number;
  byDisturbance: Record<string, number>;
  /** Not possible here, such as mounting without being root. */
  notTried: number;
  /** Runs that ended with the tables of an undisturbed one. */
  identical: number;
  /** Damaged files because of which a run was refused in words. */
  refused: number;
  /** Rows over all tables of all runs. */
  lost: number;
  doubled: number;
  changed: number;
  /** Commands that had to be killed because they did not end. */
  hung: number;
  /** Processes that stayed, files that stayed behind, errors without a next step. */
  orphans: number;
  leftovers: number;
  unworded: number;
  peakMemoryBytes: number;
  recoverSeconds: { median: number; most: number };
  /** What went wrong, a line each. */
  faults: string[];
}

export interface ChaosOptions {
  seed: number;
  /** Ends behind the trial with which so many kills are reached; or tries each of these once. */
  until: { kills: number; words?: string } | { each: readonly Disturbance[] };
  onTrial?: (line: string, figures: ChaosFigures) => void;
}

export async function chaos({ seed, until, onTrial }: ChaosOptions): Promise<ChaosFigures> {
  const parent = mkdtempSync(join(tmpdir(), 'virnucpro-chaos-'));
  const dataFolder = join(parent, 'data');
  const random = randomNumbers(seed);
  const recoverMs: number[] = [];
  const figures: ChaosFigures = {
    tried: 0,
    kills: 0,
    killMoments: 0,
    byDisturbance: {},
    notTried: 0,
    identical: 0,
    refused: 0,
    lost: 0,
    doubled: 0,
    changed: 0,
    hung: 0,
    orphans: 0,
    leftovers: 0,
    unworded: 0,
    peakMemoryBytes: 0,
    recoverSeconds: { median: 0, most: 0 },
    faults: [],
  };
  process.env['VIRNUCPRO_DATA_DIR'] = dataFolder;
  try {
    const whole = join(parent, 'whole');
    const begun = performance.now();
    await succeeds(['predict', SAMPLE, '-o', whole, '-q', ...MANY_PARTS]);
    const wanted = tablesOf(whole);
    const setting: TrialSetting = { input: SAMPLE, wholeMs: performance.now() - begun, random };
    let number = 0;
    for (const name of 'each' in until ? until.each : drawUntil(until, random, figures)) {
      number += 1;
      const place = join(parent, `trial ${number}`);
      mkdirSync(place);
      const trial = new Trial(place, setting);
      const onExit = (): void => unmountAtOnce(place);
      process.once('exit', onExit);
      try {
        const line = await tryOne(name, trial, wanted, figures);
        recoverMs.push(...trial.recoverMs);
        figures.recoverSeconds = summary(recoverMs);
        onTrial?.(`${number}. ${name}: ${trial.kills} kills, ${line}`, figures);
      } finally {
        for (const { pid } of markedProcesses(trial.folder)) killNow(pid);
        await unmount(place);
        process.off('exit', onExit);
        for (const entry of readdirSync(parent)) {
          if (entry.startsWith('trial ')) rmSync(join(parent, entry), { recursive: true, force: true });
        }
      }
    }
    return figures;
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

function* drawUntil(
  { kills, words }: { kills: number; words?: string },
  random: () => number,
  figures: ChaosFigures,
): Generator<Disturbance> {
  while (figures.kills < kills) yield drawDisturbance(random, words);
}

async function tryOne(
  name: Disturbance,
  trial: Trial,
  wanted: Tables,
  figures: ChaosFigures,
): Promise<string> {
  const wasTried = await DISTURBANCES[name].disturb(trial);
  if (!wasTried) {
    figures.notTried += 1;
    return 'not possible here';
  }
  const { code, said } = await trial.finish();
  figures.tried += 1;
  figures.byDisturbance[name] = (figures.byDisturbance[name] ?? 0) + 1;
  figures.kills += trial.kills;
  figures.killMoments += trial.killMoments;
  figures.hung += trial.hung;
  figures.peakMemoryBytes = Math.max(figures.peakMemoryBytes, trial.peakMemoryBytes);
  figures.unworded += trial.unworded.length;
  figures.faults.push(...trial.unworded.map((words) => `${name}: ${words}`));
  const orphans = await whatStays(trial);
  figures.orphans += orphans.length;
  figures.faults.push(...orphans.map((command) => `${name}: still runs: ${command}`));
  if (code !== 0) {
    // What is damaged beyond repair may be refused, and nothing else.
    if (name === 'file of a paused run damaged' && trial.unworded.length === 0) figures.refused += 1;
    else figures.faults.push(`${name}: the run could not be ended, ${code}: ${said.slice(-500)}`);
    return 'refused';
  }
  const rows = compareTables(wanted, tablesOf(trial.folder));
  figures.lost += rows.lost;
  figures.doubled += rows.doubled;
  figures.changed += rows.changed;
  const same = rows.lost + rows.doubled + rows.changed === 0;
  if (same) figures.identical += 1;
  else figures.faults.push(`${name}: ${JSON.stringify(rows)}`);
  const left = readdirSync(trial.folder).filter((file) => /\.tmp$|^run\.lock$/.test(file));
  figures.leftovers += left.length;
  figures.faults.push(...left.map((file) => `${name}: left behind: ${file}`));
  await verifyRun(name, trial, figures);
  return same ? 'identical' : 'CHANGED';
}

async function verifyRun(name: string, trial: Trial, figures: ChaosFigures): Promise<void> {
  const { code, said } = await trial.command(['verify', trial.folder, '--python', REAL_PYTHON]).end;
  if (code !== 0) figures.faults.push(`${name}: verify ends with ${code}: ${said.slice(-500)}`);
}

/** Commands of processes that are still there when all should have noticed that there is nothing left to do. */
async function whatStays(trial: Trial): Promise<string[]> {
  const begin = performance.now();
  for (;;) {
    const processes = markedProcesses(trial.folder);
    if (processes.length === 0) return [];
    if (performance.now() - begin > ORPHANS_END_MS) {
      for (const { pid } of processes) killNow(pid);
      return processes.map(({ command }) => command);
    }
    await pause(100);
  }
}

function summary(times: readonly number[]): { median: number; most: number } {
  const sorted = times.map((ms) => Math.round(ms / 100) / 10).sort((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)] ?? 0, most: sorted.at(-1) ?? 0 };
}
