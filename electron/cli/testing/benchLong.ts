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
import { loadavg, tmpdir } from 'node:os';
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
const SAMPLE_MS = 1_000;
const PARTS_MS = 250;
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
interface Aim {
  what: string;
  unit: string;
  limit: number;
}
const AIMS = {
  engineMegabytes: { what: "engine's memory, peak", unit: 'MB', limit: 400 },
  eventsPercent: { what: `handling the events of ${GPUS} H200s`, unit: '% of a core', limit: 5 },
  monitorPercent: { what: 'measuring devices', unit: '% of a core', limit: 1 },
  resumeSeconds: { what: 'from resume to its first part', unit: 's', limit: 10 },
  tablesSeconds: { what: 'checking all that is stored and writing the tables', unit: 's', limit: 60 },
} satisfies Record<string, Aim>;

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
    const kilobytes = (name: string): number =>
      Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
    return {
      residentBytes: 1024 * kilobytes('VmRSS'),
      peakBytes: 1024 * kilobytes('VmHWM'),
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
  /**
   * Processor time of the engine's own process until then; the rest is other processes, and waiting for them.
   */
  engineSecondsToFirstPart: number | null;
  enginePeakBytes: number;
  /** The peak at the first part, and at the start of the final stage. */
  peakAtFirstPart: number;
  peakAtTables: number;
  mainThreadSeconds: number;
  /** Main thread's processor time and wall-clock time, from the first part of this session to the last. */
  computing: { mainThreadSeconds: number; seconds: number } | null;
  /** Seconds from the last part to the end of the command. */
  endSeconds: number | null;
  engineSeconds: number;
  /** Processor time of the device monitor, without its start, and how long it was measured. */
  monitorSeconds: number;
  monitorWatchedSeconds: number;
  workerBytes: number[];
  partsScored: number;
  code: number | null;
}

/** Runs one session of the command line, measured every second; kills it when this many parts are done. */
async function session(args: string[], killAfterParts = Infinity): Promise<Measured> {
  const begun = performance.now();
  const since = (): number => (performance.now() - begun) / 1000;
  const child = virnucpro([...args, '--python', FAULTY_PYTHON], { env, node: [...MEMORY_SETTING.nodeFlags] });
  const pid = child.pid ?? 0;
  const measured: Measured = {
    seconds: 0,
    firstPartSeconds: null,
    engineSecondsToFirstPart: null,
    enginePeakBytes: 0,
    peakAtFirstPart: 0,
    peakAtTables: 0,
    mainThreadSeconds: 0,
    computing: null,
    endSeconds: null,
    engineSeconds: 0,
    monitorSeconds: 0,
    monitorWatchedSeconds: 0,
    workerBytes: [],
    partsScored: 0,
    code: null,
  };
  const before = partsScored();
  let firstPart: { at: number; mainThreadSeconds: number } | undefined;
  let tablesAt: number | undefined;
  let monitorBegan: { at: number; seconds: number } | undefined;
  const parts = setInterval(() => {
    const scored = partsScored();
    const status = statusOf(pid);
    if (scored > before && !firstPart && status) {
      firstPart = { at: since(), mainThreadSeconds: status.mainThreadSeconds };
      measured.firstPartSeconds = firstPart.at;
      measured.engineSecondsToFirstPart = status.allSeconds;
      measured.peakAtFirstPart = status.peakBytes;
    }
    if (tablesAt === undefined && firstPart && status && areTablesBegun()) {
      tablesAt = since();
      measured.peakAtTables = status.peakBytes;
      measured.computing = {
        mainThreadSeconds: status.mainThreadSeconds - firstPart.mainThreadSeconds,
        seconds: tablesAt - firstPart.at,
      };
    }
    measured.partsScored = scored;
    if (scored >= killAfterParts) child.kill('SIGKILL');
  }, PARTS_MS);
  const timer = setInterval(() => {
    const engine = statusOf(pid);
    if (engine) {
      // A process that has ended but is still listed has no memory.
      measured.enginePeakBytes = Math.max(measured.enginePeakBytes, engine.peakBytes);
      measured.mainThreadSeconds = engine.mainThreadSeconds;
      measured.engineSeconds = engine.allSeconds;
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
  }, SAMPLE_MS);
  const { code, output } = await ended(child);
  clearInterval(timer);
  clearInterval(parts);
  measured.seconds = since();
  measured.endSeconds = tablesAt === undefined ? null : measured.seconds - tablesAt;
  measured.code = code;
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
    eventsPercent: (100 * (second.computing?.mainThreadSeconds ?? Infinity) * GPUS) / secondsOfOneGpu,
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
    loadAverage: loadavg(),
    sessions: [first, second].map((measured) => ({ ...measured, workerBytes: undefined })),
    databaseBytes: statSync(join(run, 'run.db')).size,
    worker,
    figures,
    pace: { gpus: GPUS, residuesPerSecond: H200_RESIDUES_PER_SECOND, secondsOfOneGpu },
    limits: Object.fromEntries(Object.entries(AIMS).map(([name, { limit }]) => [name, limit])),
  };
  for (const [name, { what, unit, limit }] of Object.entries(AIMS)) {
    const value = figures[name as keyof typeof AIMS];
    say(`${what}: ${value.toFixed(1)} ${unit}, aim under ${limit}: ${value < limit ? 'met' : 'NOT MET'}`);
  }
  const paceOfAll = (share * counts.residues) / (second.computing?.seconds ?? Infinity);
  say(
    `computing: at ${(paceOfAll / H200_RESIDUES_PER_SECOND).toFixed(1)} times the pace of an H200, ` +
      `main thread ${((100 * (second.computing?.mainThreadSeconds ?? 0)) / (second.computing?.seconds ?? 1)).toFixed(1)} % of a core`,
  );
  say(`from the last part to the end of the command: ${(second.endSeconds ?? Infinity).toFixed(1)} s`);
  say(
    `engine's memory: ${[second.peakAtFirstPart, second.peakAtTables, second.enginePeakBytes].map((bytes) => (bytes / 1e6).toFixed(0)).join(', ')} MB by the first part, the last part, the end`,
  );
  say(
    `worker: ${(worker.earlyBytes / 1e6).toFixed(0)} MB early, ${(worker.lateBytes / 1e6).toFixed(0)} MB late, ${counts.parts.done} parts`,
  );
  say(`result files: ${readdirSync(run).length}`);
  if (values.json !== undefined) {
    mkdirSync(dirname(values.json), { recursive: true });
    writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
  }
} finally {
  if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
}
