/**
 * Measures how soon every sample of a run has an estimate of its viral share: made-up reads in several files, on one device as fast
 * as an RTX 4090. Everything is real but the encoders, whose stand-in takes its time from the number of residues.
 * npm run bench -- answer [reads] [--files N] [--json FILE]
 */
import { createWriteStream, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { RUN_DATABASE } from '../../contract/folderNames.ts';
import { expectedShares, openRunStore } from '../../engine/index.ts';
import { ExpectedSharesOfRuns } from '../../engine/service/questions/expectedShares.ts';
import { measuringComputer } from '../../engine/testing/measuringComputer.ts';
import { FAULTY_PYTHON, REAL_PYTHON } from '../../engine/testing/realFiles.ts';
import { testBundle } from '../../engine/testing/testBundles.ts';
import { MEMORY_SETTING } from '../memorySetting.ts';
import { ended, virnucpro, waitUntil } from './commandLineProcess.ts';

const READ_LENGTH = 150;
/** Of a GPU. */
const RESIDUES_PER_PART = 262_144;
/** An H200's 106,736 by 165 instead of 790 TFLOP/s of BF16, rounded down. */
const RTX_4090_RESIDUES_PER_SECOND = 20_000;
const AIM_SECONDS = 60;
const LOOK_MS = 1_000;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string' }, files: { type: 'string', default: '10' } },
});
const reads = Number(positionals[0] ?? 1_000_000);
const files = Number(values.files);

/** Text without stop codons in its first frame, so that a read from it has as many open frames as one of a genome: some 1.5. */
function codingText(length: number): string {
  const codons = Array.from({ length: 64 }, (_, codon) =>
    [4, 2, 0].map((shift) => 'ACGT'[(codon >> shift) & 3]).join(''),
  ).filter((codon) => !['TAA', 'TAG', 'TGA'].includes(codon));
  let seed = 7;
  return Array.from({ length: length / 3 }, () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return codons[Math.floor((seed / 2 ** 32) * codons.length)];
  }).join('');
}

async function writeReads(path: string, text: string, first: number, count: number): Promise<void> {
  const file = createWriteStream(path);
  for (let read = first; read < first + count;) {
    const lines: string[] = [];
    for (const end = Math.min(read + 10_000, first + count); read < end; read++) {
      const begin = (read * 7919) % (text.length - READ_LENGTH);
      lines.push(`>read_${read}\n${text.slice(begin, begin + READ_LENGTH)}\n`);
    }
    if (!file.write(lines.join(''))) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
}

const folder = await mkdtemp(join(tmpdir(), 'virnucpro-answer-'));
try {
  const text = codingText(3_000_000);
  const perFile = Math.floor(reads / files);
  const inputs = Array.from({ length: files }, (_, file) =>
    join(folder, `pond_${String.fromCharCode(97 + file)}.fa`),
  );
  for (const [file, path] of inputs.entries()) await writeReads(path, text, file * perFile, perFile);

  const run = join(folder, 'run');
  const begun = performance.now();
  const seconds = (): number => (performance.now() - begun) / 1000;
  const child = virnucpro(
    [
      ...['predict', ...inputs, '-o', run, '-q', '--model', 'teaching', '--devices', 'cpu:1'],
      ...['--residues-per-part', String(RESIDUES_PER_PART), '--order', 'sample', '--python', FAULTY_PYTHON],
    ],
    {
      node: [...MEMORY_SETTING.nodeFlags],
      env: {
        ...MEMORY_SETTING.environment,
        VIRNUCPRO_FAULT: `instant:${RTX_4090_RESIDUES_PER_SECOND}`,
        VIRNUCPRO_REAL_PYTHON: REAL_PYTHON,
      },
    },
  );
  const end = ended(child);
  const goesOn = (): boolean => child.exitCode === null;
  await waitUntil(() => existsSync(join(run, RUN_DATABASE)) || !goesOn(), 'the run is created');
  const createdAfter = seconds();
  const store = await openRunStore(run, {
    hostEntry: testBundle(
      'storeHost.mjs',
      new URL('../../engine/store/sqlite/hostEntry.ts', import.meta.url),
    ),
    readOnly: true,
  });
  let readAfter: number | null = null;
  let slowestLook = 0;
  const knownAfter: (number | null)[] = inputs.map(() => null);
  const progress = new ExpectedSharesOfRuns();
  while (goesOn() && knownAfter.includes(null)) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const asked = performance.now();
    const samples = (await progress.of(run, (ask) => ask(store)))?.samples ?? [];
    process.stdout.write(
      `${seconds().toFixed(1)} s: ${samples.filter(({ estimate }) => estimate).length} samples\n`,
    );
    slowestLook = Math.max(slowestLook, (performance.now() - asked) / 1000);
    if (readAfter === null && (await store.loadRun()).prepared !== null) readAfter = seconds();
    for (const [sample, { estimate }] of samples.entries()) if (estimate) knownAfter[sample] ??= seconds();
  }
  const shares = await expectedShares(store);
  const { counts, prepared } = await store.loadRun();
  await store.close();
  child.kill('SIGKILL');
  const { output } = await end;
  if (knownAfter.includes(null)) throw new Error(output.slice(-2_000));
  const known = knownAfter as number[];
  const report = {
    measured: new Date().toISOString(),
    machine: measuringComputer(),
    loadAverage: loadavg(),
    reads,
    files,
    frames: prepared?.frames,
    residuesPerSecond: RTX_4090_RESIDUES_PER_SECOND,
    createdAfter,
    readAfter,
    knownAfter: known,
    slowestLook,
    framesDone: counts.frames.done,
    shares: shares?.samples.map(({ sample, scored, estimate }) => ({ sample, scored, estimate })),
  };
  const last = Math.max(...known);
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.stdout.write(
    `all ${files} samples have an estimate after ${last.toFixed(1)} s, aim under ${AIM_SECONDS}: ${last < AIM_SECONDS ? 'met' : 'NOT MET'}\n`,
  );
  if (values.json !== undefined) {
    mkdirSync(dirname(values.json), { recursive: true });
    writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
