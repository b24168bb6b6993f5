/**
 * The real scheduler, store and channel of a run on a simulated cluster: workers answer after the time that a part was measured to
 * take on an H200 (docs/performance.md), divided by a speed-up.
 *
 * npm run bench:scale -- WORKERS [SPEEDUP] [--seconds S] [--frames-per-part N] [--json FILE]
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { RESIDUES_PER_PART } from '../../../../contract/plan.ts';
import { unwrap } from '../../../../contract/result.ts';
import { resolveModel } from '../../../models/resolveModel.ts';
import type { RunStore } from '../../../store/runStoreFace.ts';
import { measuringComputer } from '../../../testing/measuringComputer.ts';
import { APP_PATHS, REAL_PYTHON } from '../../../testing/realFiles.ts';
import { DEADLINES } from '../../../workers/deadlines.ts';
import { OpenRun } from '../../openRun.ts';

/** Of one H200, from FASTA to tables, contigs in chunks of 500: docs/performance.md. */
const RESIDUES_PER_SECOND = 100_819;
/** The same contigs: 18,561 frames of 3.0 million residues. */
const FRAMES_PER_PART = 1_622;
const SAMPLE_MS = 500;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    'frames-per-part': { type: 'string', default: String(FRAMES_PER_PART) },
  },
});
const workers = Number(positionals[0] ?? 64);
const speedup = Number(positionals[1] ?? 1);
const framesPerPart = Number(values['frames-per-part']);
const partSeconds = RESIDUES_PER_PART.gpu / RESIDUES_PER_SECOND / speedup;
const partCount = Math.ceil((workers * Number(values.seconds)) / partSeconds);
const folder = await mkdtemp(join(tmpdir(), 'virnucpro-scale-'));
const run = join(folder, 'run');
const report = join(folder, 'pool.json');

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Runs the pool of the simulation in place of the backend's, and else the real backend. */
function interpreter(): string {
  const path = join(folder, 'python.sh');
  const pool = fileURLToPath(new URL('simulatedPool.ts', import.meta.url));
  writeFileSync(
    path,
    `#!/bin/sh\ncase "$*" in *virnucpro_backend.cluster*) exec "${process.execPath}" "${pool}";; esac\nexec "${REAL_PYTHON}" "$@"\n`,
  );
  chmodSync(path, 0o755);
  return path;
}

const hostEntry = new URL('../../../store/sqlite/hostEntry.ts', import.meta.url);
const { planModel } = unwrap(await resolveModel('demo', APP_PATHS));
process.env['VIRNUCPRO_SIMULATED_CLUSTER'] = JSON.stringify({
  workers,
  partSeconds,
  residuesPerPart: RESIDUES_PER_PART.gpu,
  modelHash: planModel.hash,
  report,
});
const context = {
  appVersion: 'bench',
  paths: { ...APP_PATHS, dataDir: join(folder, 'data') },
  environment: {
    interpreter: interpreter(),
    own: false,
    pythonVersion: '3',
    packages: {},
    source: APP_PATHS.pythonSource,
  },
  storeHost: hostEntry,
  deadlines: DEADLINES,
  restartDelayMs: 1_000,
};

/** Each call is one transaction. */
const WRITES = [
  'startAttempt',
  'completePart',
  'endAttempt',
  'addSamples',
  'addEvent',
  'saveDevices',
] as const;
type Write = (typeof WRITES)[number];

/** Counts the calls that write, how long each waits for its answer, and how many parts' scores wait at most. */
function countWrites(store: RunStore): { waited: Record<Write, number[]>; mostParts: () => number } {
  let open = 0;
  let most = 0;
  const waited = Object.fromEntries(WRITES.map((name) => [name, []])) as unknown as Record<Write, number[]>;
  for (const name of WRITES) {
    const call = store[name].bind(store) as (...given: unknown[]) => Promise<unknown>;
    Object.assign(store, {
      [name]: async (...given: unknown[]) => {
        const begun = performance.now();
        if (name === 'completePart') most = Math.max(most, ++open);
        const answer = await call(...given);
        if (name === 'completePart') open -= 1;
        waited[name].push(performance.now() - begun);
        return answer;
      },
    });
  }
  return { waited, mostParts: () => most };
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

try {
  say(
    `${partCount} parts of ${framesPerPart} frames; ${partSeconds.toFixed(3)} s each on ${workers} workers`,
  );
  // By a process of its own: what that takes is not the engine's.
  execFileSync(
    process.execPath,
    [fileURLToPath(new URL('makeRun.ts', import.meta.url)), run, String(partCount), String(framesPerPart)],
    { stdio: 'inherit' },
  );
  const session = unwrap(await OpenRun.open(context, run));
  const { waited, mostParts } = countWrites(session.store);
  unwrap(await session.start());
  while (session.deviceStates().filter(({ worker }) => worker.state === 'working').length < workers)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const begun = performance.now();
  const cpuBefore = process.cpuUsage();
  const loopBefore = performance.eventLoopUtilization();
  const writesBefore = WRITES.reduce((sum, name) => sum + waited[name].length, 0);
  const doneBefore = session.progress().parts.done;
  let peakBytes = 0;
  const sampler = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
    // As a window, or the command line's table, looks at the run.
    session.deviceStates();
    session.progress();
  }, SAMPLE_MS);
  const allGiven = () => session.progress().parts.total - session.progress().parts.done <= 2 * workers;
  while (!allGiven()) await new Promise((resolve) => setTimeout(resolve, 50));
  const seconds = (performance.now() - begun) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  const loop = performance.eventLoopUtilization(loopBefore);
  const parts = session.progress().parts.done - doneBefore;
  const commits = WRITES.reduce((sum, name) => sum + waited[name].length, 0) - writesBefore;
  clearInterval(sampler);
  const settledFrom = performance.now();
  const state = await session.whenIdle();
  const finishSeconds = (performance.now() - settledFrom) / 1000;
  await session.close();
  const pool = JSON.parse(readFileSync(report, 'utf8')) as {
    lines: number;
    busySeconds: number;
    idleSeconds: number;
  };
  const complete = waited.completePart.toSorted((a, b) => a - b);
  const figures = {
    partsPerSecond: parts / seconds,
    partsPerSecondIfWorkersNeverWaited: workers / partSeconds,
    workersIdlePercent: (100 * pool.idleSeconds) / (pool.busySeconds + pool.idleSeconds),
    poolLinesPerSecond: pool.lines / seconds,
    commitsPerSecond: commits / seconds,
    chunkRowsPerSecond: ((parts / seconds) * framesPerPart) / 2,
    enginePercentOfOneCore: ((cpu.user + cpu.system) / 1e6 / seconds) * 100,
    mainThreadPercent: 100 * loop.utilization,
    enginePeakMegabytes: peakBytes / 1e6,
    scoresStoredMedianMs: quantile(complete, 0.5),
    scoresStored95PercentMs: quantile(complete, 0.95),
    partsWaitingForStoreAtMost: mostParts(),
    databaseMegabytes: statSync(join(run, 'run.db')).size / 1e6,
    lastPartsAndTablesSeconds: finishSeconds,
  };
  for (const [name, value] of Object.entries(figures)) say(`${name}: ${value.toFixed(2)}`);
  say(
    `load average: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}; the run is ${state.phase}`,
  );
  if (values.json !== undefined) {
    const { cpu, ...computer } = measuringComputer();
    const machine = {
      processor: cpu,
      ...computer,
      loadAverage: loadavg(),
    };
    mkdirSync(dirname(values.json), { recursive: true });
    const setting = { workers, speedup, partSeconds, framesPerPart, parts: partCount, seconds };
    writeFileSync(
      values.json,
      `${JSON.stringify({ date: new Date().toISOString(), machine, setting, figures }, null, 2)}\n`,
    );
  }
  if (state.phase !== 'done') process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
