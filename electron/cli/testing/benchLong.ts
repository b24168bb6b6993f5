/**
 * Measures a long run through the real engine, command line, prepare and worker; only the worker's encoders
 * are replaced by a stand-in that answers at once. The run is killed on the way and resumed. Linux only,
 * because process figures are read from /proc.
 * npm run bench -- long [reads] [--json FILE] [--folder FOLDER]
 * With --folder, the input and the run are kept there.
 */
import {
  createWriteStream,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { ended, virnucpro } from './commandLineProcess.ts';
import { measuringComputer } from '../../engine/testing/measuringComputer.ts';
import { FAULTY_PYTHON, REAL_PYTHON } from '../../engine/testing/realFiles.ts';
import { MEMORY_SETTING } from '../memorySetting.ts';
import { backendProcesses, MARK } from './markedProcesses.ts';

const READ_LENGTH = 100;
const RESIDUES_PER_PART = 40_000;
const SAMPLE_MS = 250;
/** Processes are still starting until then. */
const SETTLED_SECONDS = 15;
const CLOCK_TICKS_A_SECOND = 100;
/** The speed of an H200 with both encoders in the proportion that a run needs: docs/performance.md. */
const H200_RESIDUES_PER_SECOND = 106_736;
/**
 * The stand-in answers at once, so events come faster than any GPU makes them; they are reported at the pace
 * of this many GPUs.
 */
const GPUS = 8;
const AIMS = {
  engineMegabytes: { what: "engine's memory, peak", unit: 'MB', limit: 400 },
  eventsPercent: { what: `handling the events of ${GPUS} H200s`, unit: '% of a core', limit: 5 },
  monitorPercent: { what: 'measuring devices', unit: '% of a core', limit: 1 },
  resumeSeconds: { what: 'from resume to its first part', unit: 's', limit: 10 },
  tablesSeconds: { what: 'checking all that is stored and writing the tables', unit: 's', limit: 60 },
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string' }, folder: { type: 'string' } },
});
const reads = Number(positionals[0] ?? 1_000_000);
const folder = values.folder ?? (await mkdtemp(join(tmpdir(), 'virnucpro-long-')));
if (values.folder !== undefined) mkdirSync(folder, { recursive: true });
const input = join(folder, 'reads.fa');
const run = join(folder, 'run');
const env = {
  ...MEMORY_SETTING.environment,
  VIRNUCPRO_FAULT: 'instant',
  VIRNUCPRO_REAL_PYTHON: REAL_PYTHON,
  [MARK]: folder,
};

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function writeReads(): Promise<void> {
  const file = createWriteStream(input);
  const pool = Buffer.alloc(1 << 20);
  let seed = 7;
  for (let at = 0; at < pool.length; at++) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    pool[at] = 'ACGT'.charCodeAt(seed >>> 30);
  }
  const text = pool.toString('latin1');
  for (let read = 0; read < reads;) {
    const lines: string[] = [];
    for (; lines.length < 10_000 && read < reads; read++) {
      const begin = (read * 7919) % (text.length - READ_LENGTH);
      lines.push(`>read_${read} length=${READ_LENGTH}\n${text.slice(begin, begin + READ_LENGTH)}\n`);
    }
    if (!file.write(lines.join(''))) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
}

/** Reads the system's list of processes; null for a process that has ended. */
function statusOf(
  pid: number,
): { residentBytes: number; peakBytes: number; mainThreadSeconds: number; allSeconds: number } | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const bytes = (name: string): number =>
      1024 * Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
    return {
      residentBytes: bytes('VmRSS'),
      peakBytes: bytes('VmHWM'),
      mainThreadSeconds: secondsOf(`/proc/${pid}/task/${pid}/stat`),
      allSeconds: secondsOf(`/proc/${pid}/stat`),
    };
  } catch {
    return null;
  }
}

function secondsOf(path: string): number {
  const stat = readFileSync(path, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_A_SECOND;
}

interface Measured {
  seconds: number;
  /** Seconds until the first part of this session was done. */
  firstPartSeconds: number | null;
  enginePeakBytes: number;
  /** Processor time of the main thread from the first part of this session to the tables. */
  mainThreadSeconds: number | null;
  /** Processor time of the device monitor, without its start, and how long it was measured. */
  monitorSeconds: number;
  monitorWatchedSeconds: number;
  workerBytes: number[];
  partsScored: number;
}

/** Runs one session of the command line; kills it when this many parts are done. */
async function session(args: string[], killAfterParts = Infinity): Promise<Measured> {
  const begun = performance.now();
  const since = (): number => (performance.now() - begun) / 1000;
  const child = virnucpro([...args, '--python', FAULTY_PYTHON], { env, node: [...MEMORY_SETTING.nodeFlags] });
  const measured: Measured = {
    seconds: 0,
    firstPartSeconds: null,
    enginePeakBytes: 0,
    mainThreadSeconds: null,
    monitorSeconds: 0,
    monitorWatchedSeconds: 0,
    workerBytes: [],
    partsScored: 0,
  };
  const before = partsScored();
  let mainThreadAtFirstPart = 0;
  let monitorBegan: { at: number; seconds: number } | undefined;
  const timer = setInterval(() => {
    const scored = partsScored();
    measured.partsScored = scored;
    // A process that has ended but is still listed has no memory.
    const engine = statusOf(child.pid ?? 0);
    if (engine) {
      measured.enginePeakBytes = Math.max(measured.enginePeakBytes, engine.peakBytes);
      if (scored > before && measured.firstPartSeconds === null) {
        measured.firstPartSeconds = since();
        mainThreadAtFirstPart = engine.mainThreadSeconds;
      }
      if (measured.firstPartSeconds !== null && measured.mainThreadSeconds === null && areTablesBegun())
        measured.mainThreadSeconds = engine.mainThreadSeconds - mainThreadAtFirstPart;
    }
    const [monitor] = backendProcesses(folder, 'devices.monitor');
    const monitorSeconds = monitor && statusOf(monitor.pid)?.allSeconds;
    if (monitorSeconds && since() > SETTLED_SECONDS) {
      monitorBegan ??= { at: since(), seconds: monitorSeconds };
      measured.monitorSeconds = monitorSeconds - monitorBegan.seconds;
      measured.monitorWatchedSeconds = since() - monitorBegan.at;
    }
    const [worker] = backendProcesses(folder, 'worker');
    const bytes = worker && statusOf(worker.pid)?.residentBytes;
    if (bytes) measured.workerBytes.push(bytes);
    if (scored >= killAfterParts) child.kill('SIGKILL');
  }, SAMPLE_MS);
  const { code, output } = await ended(child);
  clearInterval(timer);
  measured.seconds = since();
  if (code !== (killAfterParts === Infinity ? 0 : null)) throw new Error(output.slice(-2_000));
  return measured;
}

/** Parts whose scores a worker has written; 0 if there is no work folder. */
function partsScored(): number {
  try {
    return readdirSync(join(run, 'work', 'scores')).filter((name) => name.endsWith('.safetensors')).length;
  } catch {
    return 0;
  }
}

function areTablesBegun(): boolean {
  return readdirSync(run).some((name) => name.endsWith('.tsv.tmp'));
}

/**
 * The largest size of a worker in the second and in the last tenth of its time: by then its memory has
 * settled.
 */
function growth(samples: readonly number[]): { earlyBytes: number; lateBytes: number } {
  const tenth = Math.max(1, Math.floor(samples.length / 10));
  return {
    earlyBytes: Math.max(...samples.slice(tenth, 2 * tenth + 1)),
    lateBytes: Math.max(...samples.slice(-tenth)),
  };
}

try {
  await writeReads();
  say(`${reads} reads of ${READ_LENGTH} bp, ${(statSync(input).size / 1e6).toFixed(0)} MB`);
  const options = [
    '--model',
    'teaching',
    '--devices',
    'cpu',
    '--residues-per-part',
    String(RESIDUES_PER_PART),
    '-q',
  ];
  const expectedParts = Math.max(4, Math.floor((reads * 40) / RESIDUES_PER_PART));
  const first = await session(['predict', input, '-o', run, ...options], Math.floor(expectedParts / 3));
  say(`killed after ${first.seconds.toFixed(0)} s`);
  const second = await session(['resume', run, '-q']);
  const { counts, timings } = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')) as {
    counts: { records: number; frames: number; residues: number; parts: { done: number } };
    timings: { tables_seconds: number };
  };
  const worker = growth(second.workerBytes);
  const share = 1 - first.partsScored / counts.parts.done;
  /** The time that one H200 would need for what the second session computed. */
  const secondsOfOneGpu = (share * counts.residues) / H200_RESIDUES_PER_SECOND;
  const figures = {
    engineMegabytes: Math.max(first.enginePeakBytes, second.enginePeakBytes) / 1e6,
    eventsPercent: (100 * (second.mainThreadSeconds ?? Infinity) * GPUS) / secondsOfOneGpu,
    monitorPercent: (100 * second.monitorSeconds) / Math.max(1, second.monitorWatchedSeconds),
    resumeSeconds: second.firstPartSeconds ?? Infinity,
    tablesSeconds: timings.tables_seconds,
  };
  const report = {
    measured: new Date().toISOString(),
    machine: measuringComputer(),
    reads,
    records: counts.records,
    frames: counts.frames,
    parts: counts.parts.done,
    sessions: [first, second].map((measured) => ({ ...measured, workerBytes: undefined })),
    databaseBytes: statSync(join(run, 'run.db')).size,
    worker,
    figures,
  };
  for (const [name, { what, unit, limit }] of Object.entries(AIMS)) {
    const value = figures[name as keyof typeof AIMS];
    say(`${what}: ${value.toFixed(1)} ${unit}, aim under ${limit}: ${value < limit ? 'met' : 'NOT MET'}`);
  }
  say(
    `worker: ${(worker.earlyBytes / 1e6).toFixed(0)} MB early, ${(worker.lateBytes / 1e6).toFixed(0)} MB late, ${counts.parts.done} parts`,
  );
  if (values.json !== undefined) {
    mkdirSync(dirname(values.json), { recursive: true });
    writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
  }
} finally {
  if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
}
