import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { readSync, watch, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { FAULTY_PYTHON, REAL_PYTHON } from '../../../engine/testing/realFiles.ts';
import { pause } from '../waiting.ts';
import {
  growMemory,
  mountImage,
  mountMemory,
  mountNewImage,
  repairImage,
  reportError,
  unmount,
} from './disks.ts';
import { pauseWhile, type Started, type Trial } from './trial.ts';

/** Does something bad to a run at random moments. Answers false where this computer does not let it be tried. */
type Disturb = (trial: Trial) => Promise<boolean>;

/** How often each is drawn. */
export const DISTURBANCES = {
  'engine killed': { weight: 26, disturb: engineKilled },
  'everything killed, in random order': { weight: 18, disturb: everythingKilled },
  'workers killed': { weight: 14, disturb: workersKilled },
  'prepare killed': { weight: 8, disturb: prepareKilled },
  'engine killed while it writes tables': { weight: 6, disturb: killedWhileWriting },
  'engine ended by a signal': { weight: 3, disturb: endedBySignal },
  'worker stopped for seconds': { weight: 2, disturb: workerStopped },
  'second engines on a running run': { weight: 4, disturb: secondEngines },
  'four resumes at once': { weight: 3, disturb: resumesAtOnce },
  'file of a paused run damaged': { weight: 8, disturb: fileDamaged },
  'worker that lies': { weight: 5, disturb: lyingWorker },
  'clock jumps': { weight: 3, disturb: clockJumps },
  'disk full': { weight: 4, disturb: diskFull },
  'disk becomes read-only': { weight: 3, disturb: becomesReadOnly },
} satisfies Record<string, { weight: number; disturb: Disturb }>;

export type Disturbance = keyof typeof DISTURBANCES;

/** Draws one of those whose name contains the words. */
export function drawDisturbance(random: () => number, words = ''): Disturbance {
  const all = (Object.keys(DISTURBANCES) as Disturbance[]).filter((name) => name.includes(words));
  let left = random() * all.reduce((sum, name) => sum + DISTURBANCES[name].weight, 0);
  return all.find((name) => (left -= DISTURBANCES[name].weight) < 0) ?? 'engine killed';
}

/** Kills the engine alone; its Python processes have to notice by themselves. */
async function killEngine(trial: Trial, afterMs: number): Promise<void> {
  const engine = trial.start();
  if (await pauseWhile(engine, afterMs)) trial.kill(engine.child.pid);
  await engine.end;
}

async function engineKilled(trial: Trial): Promise<boolean> {
  const times = 2 + trial.below(4);
  for (let i = 0; i < times; i++) await killEngine(trial, trial.moment(0.8));
  return true;
}

async function everythingKilled(trial: Trial): Promise<boolean> {
  const times = 1 + trial.below(2);
  for (let i = 0; i < times; i++) {
    const engine = trial.start();
    if (await pauseWhile(engine, trial.moment(0.9))) trial.killWhole();
    await engine.end;
  }
  return true;
}

async function workersKilled(trial: Trial): Promise<boolean> {
  const engine = trial.start();
  const times = 1 + trial.below(4);
  for (let i = 0; i < times; i++) {
    await pauseWhile(engine, trial.moment(0.5));
    const workers = trial.backend('worker');
    trial.kill(workers[trial.below(workers.length)]);
  }
  await engine.end;
  return true;
}

async function prepareKilled(trial: Trial): Promise<boolean> {
  const times = 1 + trial.below(2);
  for (let i = 0; i < times; i++) {
    const engine = trial.start();
    await pauseWhile(engine, trial.moment(0.2));
    while (!engine.hasEnded() && trial.backend('prepare').length === 0) await pause(5);
    await pauseWhile(engine, trial.moment(0.05));
    trial.kill(...trial.backend('prepare'));
    await engine.end;
  }
  return true;
}

async function killedWhileWriting(trial: Trial): Promise<boolean> {
  mkdirSync(trial.folder);
  const engine = trial.start();
  const delay = 30 * trial.setting.random();
  const watcher = watch(trial.folder, (_, name) => {
    if (!name?.endsWith('.tmp')) return;
    watcher.close();
    setTimeout(() => {
      trial.kill(engine.child.pid);
    }, delay);
  });
  await engine.end;
  watcher.close();
  return true;
}

async function endedBySignal(trial: Trial): Promise<boolean> {
  const signals = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP'] as const;
  const engine = trial.start();
  if (await pauseWhile(engine, trial.moment())) engine.child.kill(signals[trial.below(signals.length)]);
  await engine.end;
  return true;
}

async function workerStopped(trial: Trial): Promise<boolean> {
  const engine = trial.start();
  await pauseWhile(engine, trial.moment());
  const workers = trial.backend('worker');
  for (const signal of ['SIGSTOP', 'SIGCONT'] as const) {
    for (const pid of workers) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended meanwhile.
      }
    }
    if (signal === 'SIGSTOP') await pause(5000 * trial.setting.random());
  }
  await engine.end;
  return true;
}

async function secondEngines(trial: Trial): Promise<boolean> {
  const engine = trial.start();
  while (!engine.hasEnded() && !existsSync(join(trial.folder, 'run.lock'))) await pause(20);
  await pauseWhile(engine, trial.moment(0.6));
  const others = resumes(trial, 1 + trial.below(2));
  await Promise.all([engine, ...others].map(({ end }) => end));
  return true;
}

async function resumesAtOnce(trial: Trial): Promise<boolean> {
  await killEngine(trial, trial.moment());
  await Promise.all(resumes(trial, 4).map(({ end }) => end));
  return true;
}

function resumes(trial: Trial, count: number): Started[] {
  const args = ['resume', trial.folder, '--python', REAL_PYTHON];
  return Array.from({ length: count }, () => trial.command(args));
}

async function fileDamaged(trial: Trial): Promise<boolean> {
  await killEngine(trial, trial.moment());
  if (!existsSync(trial.folder)) return true;
  const files = readdirSync(trial.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'run.lock')
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => statSync(file).size > 0)
    .sort();
  const file = files[trial.below(files.length)];
  if (file !== undefined) damage(trial, file);
  return true;
}

function damage(trial: Trial, file: string): void {
  const { size } = statSync(file);
  switch (trial.below(4)) {
    case 0:
      rmSync(file);
      return;
    case 1:
      truncateSync(file, trial.below(size));
      return;
    case 2:
      writeFileSync(file, Buffer.alloc(size, trial.below(256)));
      return;
    default:
      flipBit(file, trial.below(size), trial.below(8));
  }
}

function flipBit(file: string, place: number, bit: number): void {
  const opened = openSync(file, 'r+');
  const byte = Buffer.alloc(1);
  readSync(opened, byte, 0, 1, place);
  byte.writeUInt8(byte.readUInt8() ^ (1 << bit));
  writeSync(opened, byte, 0, 1, place);
  closeSync(opened);
}

const LIES = ['garbage', 'wrong_version', 'library_print', 'die_once', 'wrong_hash'];

async function lyingWorker(trial: Trial): Promise<boolean> {
  const lie = LIES[trial.below(LIES.length)] ?? 'garbage';
  const env = {
    VIRNUCPRO_FAULT: lie === 'die_once' ? `${lie}:${join(trial.place, 'died')}` : lie,
    VIRNUCPRO_REAL_PYTHON: REAL_PYTHON,
  };
  await trial.start({ env }, FAULTY_PYTHON).end;
  return true;
}

async function clockJumps(trial: Trial): Promise<boolean> {
  const clock = new URL('./jumpingClock.ts', import.meta.url);
  clock.search = `?after=${trial.moment() / 1000}&days=${trial.below(2) === 0 ? 10 : -10}`;
  const engine = trial.start({ node: ['--import', clock.href] });
  if (trial.below(2) === 0 && (await pauseWhile(engine, trial.moment()))) trial.kill(engine.child.pid);
  await engine.end;
  return true;
}

async function diskFull(trial: Trial): Promise<boolean> {
  if (!mountMemory(trial.place, 300 + trial.below(1500))) return false;
  await trial.start().end;
  growMemory(trial.place);
  return true;
}

async function becomesReadOnly(trial: Trial): Promise<boolean> {
  const image = `${trial.place}.ext4`;
  if (!mountNewImage(image, trial.place)) return false;
  const engine = trial.start();
  await pauseWhile(engine, trial.moment());
  const isReadOnly = reportError(trial.place);
  await engine.end;
  await unmount(trial.place);
  repairImage(image);
  return mountImage(image, trial.place) && isReadOnly;
}
