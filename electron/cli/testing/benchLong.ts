/**
 * Measures a long run through the real engine, command line, prepare and worker; only the worker's encoders
 * are replaced by a stand-in that answers at once. The run is killed on the way and resumed. Linux only,
 * because process figures are read from /proc.
 * npm run bench -- long [reads] [--json FILE]
 */
import { createWriteStream, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { ended, virnucpro } from './commandLineProcess.ts';
import { processorSeconds } from './markedProcesses.ts';
import { measuringComputer } from '../../engine/testing/measuringComputer.ts';
import { FAULTY_PYTHON, REAL_PYTHON } from '../../engine/testing/realFiles.ts';
import { MEMORY_SETTING } from '../memorySetting.ts';

const READ_LENGTH = 100;
const RESIDUES_PER_PART = 40_000;
const SAMPLE_MS = 250;
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
  resumeSeconds: { what: 'from resume to its first part', unit: 's', limit: 10 },
  tablesSeconds: { what: 'checking all that is stored and writing the tables', unit: 's', limit: 60 },
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string' } },
});
const reads = Number(positionals[0] ?? 1_000_000);
const folder = await mkdtemp(join(tmpdir(), 'virnucpro-long-'));
const input = join(folder, 'reads.fa');
const run = join(folder, 'run');
const env = {
  ...MEMORY_SETTING.environment,
  VIRNUCPRO_FAULT: 'instant',
  VIRNUCPRO_REAL_PYTHON: REAL_PYTHON,
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
function statusOf(pid: number): { peakBytes: number; mainThreadSeconds: number } | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return {
      peakBytes: 1024 * Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0),
      mainThreadSeconds: processorSeconds(`/proc/${pid}/task/${pid}/stat`).own,
    };
  } catch {
    return null;
  }
}

interface Measured {
  seconds: number;
  /** Seconds until the first part of this session was done. */
  firstPartSeconds: number | null;
  enginePeakBytes: number;
  /** Processor time of the main thread from the first part of this session to the tables. */
  mainThreadSeconds: number | null;
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
    partsScored: 0,
  };
  const before = partsScored();
  let mainThreadAtFirstPart = 0;
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

try {
  await writeReads();
  say(`${reads} reads of ${READ_LENGTH} bp, ${(statSync(input).size / 1e6).toFixed(0)} MB`);
  const options = ['--model', 'teaching', '--devices', 'cpu', '-q'];
  const parts = ['--residues-per-part', String(RESIDUES_PER_PART)];
  const expectedParts = Math.max(4, Math.floor((reads * 40) / RESIDUES_PER_PART));
  const first = await session(
    ['predict', input, '-o', run, ...options, ...parts],
    Math.floor(expectedParts / 3),
  );
  say(`killed after ${first.seconds.toFixed(0)} s`);
  const second = await session(['resume', run, '-q']);
  const { counts, timings } = JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')) as {
    counts: { records: number; frames: number; residues: number; parts: { done: number } };
    timings: { tables_seconds: number };
  };
  const share = 1 - first.partsScored / counts.parts.done;
  /** The time that one H200 would need for what the second session computed. */
  const secondsOfOneGpu = (share * counts.residues) / H200_RESIDUES_PER_SECOND;
  const figures = {
    engineMegabytes: Math.max(first.enginePeakBytes, second.enginePeakBytes) / 1e6,
    eventsPercent: (100 * (second.mainThreadSeconds ?? Infinity) * GPUS) / secondsOfOneGpu,
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
    sessions: [first, second],
    databaseBytes: statSync(join(run, 'run.db')).size,
    figures,
  };
  for (const [name, { what, unit, limit }] of Object.entries(AIMS)) {
    const value = figures[name as keyof typeof AIMS];
    say(`${what}: ${value.toFixed(1)} ${unit}, aim under ${limit}: ${value < limit ? 'met' : 'NOT MET'}`);
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
