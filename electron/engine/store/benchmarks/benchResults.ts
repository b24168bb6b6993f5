/**
 * `npm run bench -- results [sequences] [--run FOLDER] [--json FILE]`: measures how long the queries of the
 * Results tab take on a large run. A made-up run goes through the real store in its own process; another
 * process then opens it as the window's engine does, so that its memory is that of the queries alone. With
 * --run, the run is created once and kept.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { predictionSchema, evidenceSchema } from '../../../contract/results.ts';
import { runRequestSchema } from '../../../contract/rpc/runs.ts';
import { measuringComputer } from '../../testing/measuringComputer.ts';
import { sequenceSortSchema, type SequenceFilter, type SequenceSort } from '../../../contract/rpc/results.ts';
import { CheckedRuns } from '../checkedRuns.ts';
import { HOST_ENTRY, reportPrepare } from '../testing/storeFixture.ts';
import { openRunStore } from '../runStore.ts';
import {
  DESCRIPTION,
  recordOf,
  syntheticPlan,
  writePrepared,
  writeScores,
  type SyntheticRecord,
} from '../testing/syntheticRun.ts';

const INPUTS = 4;
const FRAMES_PER_PART = 16_000;
const PAGE_ROWS = 600;
const LIMITS_MS = { open: 300, question: 500 } as const;
/** Length bins of the plots. */
const EDGES = [0, 300, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000];
const MOST_CHUNKS = 12;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { run: { type: 'string' }, json: { type: 'string' }, make: { type: 'boolean', default: false } },
});
const sequences = Number(positionals[0] ?? 1_000_000);
const say = (line: string) => process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const folder = values.run ?? mkdtempSync(join(tmpdir(), 'virnucpro-bench-'));
  try {
    if (!existsSync(join(folder, 'run.db'))) {
      say(`Making a run of ${sequences.toLocaleString('en')} sequences ...`);
      const again = [...process.execArgv, fileURLToPath(import.meta.url), String(sequences)];
      execFileSync(process.execPath, [...again, '--make', '--run', folder], { stdio: 'inherit' });
    }
    await measureRun(folder);
  } finally {
    if (values.run === undefined) rmSync(folder, { recursive: true });
  }
}

async function makeRun(folder: string): Promise<void> {
  let seed = 1;
  const random = (): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return seed / 2 ** 32;
  };
  mkdirSync(folder, { recursive: true });
  // Most are reads and short contigs; a fifth of all chunks has no open frame.
  const made = (row: number): SyntheticRecord => {
    const chunks = Math.max(1, Math.ceil(MOST_CHUNKS * random() ** 5));
    const masks = Array.from({ length: chunks }, () => (random() < 0.2 ? 0 : 1 << Math.floor(6 * random())));
    const name = `k141_${(row * 7919) % 1_000_003}`;
    return recordOf(`${name} flag=1 multi=${(1 + 30 * random()).toFixed(4)} len=${chunks * 500}`, masks);
  };
  const inputs = Array.from({ length: INPUTS }, (_, input) => {
    const first = Math.floor((input * sequences) / INPUTS);
    const end = Math.floor(((input + 1) * sequences) / INPUTS);
    return Array.from({ length: end - first }, (__, i) => made(first + i));
  });
  const prepared = writePrepared(folder, inputs, { framesPerPart: FRAMES_PER_PART });
  const plan = syntheticPlan(INPUTS);
  // The window opens no run without a request.
  const request = runRequestSchema.parse({
    inputs: plan.inputs.map(({ path }) => path),
    model: plan.model.name,
    devices: 'cpu:2',
  });
  const store = await openRunStore(folder, {
    hostEntry: HOST_ENTRY,
    create: { plan, description: { ...DESCRIPTION, runId: randomUUID(), options: { request } } },
  });
  await reportPrepare(store, prepared);
  for (const part of prepared.parts) {
    const frames = prepared.frames.get(part.key) ?? [];
    const report = writeScores(folder, part, part.key, frames, () => random() ** 2);
    const start = { part: part.key, device: 'cpu:0', workerPid: 1, startedAt: 0, log: null };
    const intake = await store.completePart(report, (await store.startAttempt(start)) ?? -1, 1);
    if (intake.outcome !== 'taken') throw new Error(intake.outcome);
  }
  const begun = performance.now();
  const { files } = await store.writeTables();
  await store.saveResultFiles(files);
  await store.setState({ phase: 'done', failedParts: 0, failedRecords: 0 });
  say(`written as tables in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  await store.close();
}

interface Figure {
  what: string;
  /** Wall-clock time, and processor time of all threads. */
  milliseconds: number;
  processorMs: number;
  /** Null for what a user waits for only once. */
  limit: number | null;
}

async function measureRun(folder: string): Promise<void> {
  const figures: Figure[] = [];
  const measure = async <Answer>(
    what: string,
    limit: number | null,
    ask: () => Promise<Answer>,
  ): Promise<Answer> => {
    const before = process.cpuUsage();
    const asked = performance.now();
    const answer = await ask();
    const milliseconds = round(performance.now() - asked);
    const { user, system } = process.cpuUsage(before);
    const figure = { what, milliseconds, processorMs: round((user + system) / 1000), limit };
    figures.push(figure);
    say(line(figure));
    return answer;
  };
  const question = (what: string, ask: () => Promise<unknown>) => measure(what, LIMITS_MS.question, ask);
  const memoryBefore = process.memoryUsage().rss;
  const byScore: SequenceSort = { by: 'virusScore', descending: true };
  // Opened once as a run that is new to this computer, and once as one that it has checked or computed
  // itself.
  const checkedRuns = new CheckedRuns();
  const look = () => openRunStore(folder, { hostEntry: HOST_ENTRY, readOnly: true, checkedRuns });
  const checked = await measure('open the run for the first time, checking all of it', null, look);
  await measure('sort by seqName, asked for at once', null, () =>
    checked.findSequences({ filter: {} }, { by: 'seqName', descending: false }, 0, PAGE_ROWS),
  );
  await checked.close();
  const store = await measure('open the run', LIMITS_MS.open, look);
  const page = (filter: SequenceFilter, sort: SequenceSort, offset = 0) =>
    store.findSequences({ filter }, sort, offset, PAGE_ROWS);
  const { total } = await measure('first page', LIMITS_MS.open, () => page({}, byScore));
  for (const by of sequenceSortSchema.shape.by.options)
    for (const descending of [false, true]) {
      const sort = { by, descending };
      const name = `${by}, ${descending ? 'descending' : 'ascending'}`;
      await question(`sort by ${name}`, () => page({}, sort));
      await question(`sort by ${name}, page in the middle`, () => page({}, sort, Math.floor(total / 2)));
      await question(`sort by ${name}, last page`, () => page({}, sort, Math.max(0, total - PAGE_ROWS)));
    }
  const filters: Record<string, SequenceFilter> = {
    'one file': { input: 1 },
    'a sample of two files': { inputs: [0, 2] },
    ...Object.fromEntries(
      predictionSchema.options.map((name) => [`call ${name}`, { predictions: [name] }] as const),
    ),
    'score of at least 0.5': { minScore: 0.5 },
    'score of at least 0.99': { minScore: 0.99 },
    'length of at least 2,000': { minLength: 2000 },
    'length of at most 600': { maxLength: 600 },
    'at least 2 scored chunks': { minScoredChunks: 2 },
    ...Object.fromEntries(
      evidenceSchema.options.map((level) => [`evidence ${level}`, { evidence: [level] }] as const),
    ),
    'at least 10 frames': { minFramesScored: 10 },
    'half of the scored chunks viral': { minViralFraction: 0.5 },
    'second-best chunk of at least 0.9': { minSecondScore: 0.9 },
    'reason no_open_frame': { reasons: ['no_open_frame'] },
    'name or header has "9999"': { search: '9999' },
    'the candidates': { predictions: ['virus'], minScoredChunks: 2, minLength: 1000 },
  };
  for (const [name, filter] of Object.entries(filters)) {
    await question(`filter: ${name}`, () => page(filter, byScore));
    await question(`filter: ${name}, counts`, () => store.countPredictions({ filter }));
  }
  await question('counts', () => store.countPredictions({ filter: {} }));
  await question('histogram', () => store.scoreBins({ filter: {} }, 100));
  await question('histogram of viruses', () => store.scoreBins({ filter: { predictions: ['virus'] } }, 100));
  await question('share by length', () => store.lengthShares({ filter: {} }, EDGES));
  await question('length and score', () => store.lengthScores({ filter: {} }, EDGES, 100));
  await question('samples', () => store.inputSummaries());
  const memory = { before: memoryBefore, after: process.memoryUsage().rss, peak: peakBytes() };
  await store.close();

  const bytes = statSync(join(folder, 'run.db')).size;
  say(
    `memory: ${megabytes(memory.before)} at the start, at most ${megabytes(memory.peak)}; run.db ${megabytes(bytes)}`,
  );
  const limited = figures.filter(({ limit }) => limit !== null);
  const missed = limited.filter(({ milliseconds, limit }) => milliseconds > (limit ?? Infinity));
  say(`${limited.length - missed.length} of ${limited.length} within their limits`);
  if (values.json !== undefined) {
    const written = {
      measured: new Date().toISOString(),
      machine: measuringComputer(),
      sequences: total,
      databaseBytes: bytes,
      memory,
      figures,
    };
    writeFileSync(values.json, `${JSON.stringify(written, null, 2)}\n`);
  }
}

function line({ what, milliseconds, processorMs, limit }: Figure): string {
  const mark = limit === null ? '      ' : milliseconds <= limit ? 'ok    ' : 'MISSED';
  const aim = limit === null ? '' : `, limit ${limit} ms`;
  return `${mark} ${what}: ${milliseconds} ms, of the processor ${processorMs} ms${aim}`;
}

const round = (milliseconds: number) => Math.round(milliseconds * 10) / 10;
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
const peakBytes = () => process.resourceUsage().maxRSS * 1024;

if (values.make) await makeRun(values.run ?? '');
else await main();
