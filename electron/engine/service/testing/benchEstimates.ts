/**
 * How honest the estimates are: runs of different shapes one after the other with the real workers and the demo model, each
 * predicted from those before it, then from what it has done itself.
 * `npm run bench:estimates -- [--drawn RUNS --seed SEED] [RESULTS.json]`: the shapes below, by which the
 * estimates were made, or others that are drawn from a seed, by which they are checked. Ends with a table in Markdown. It wants a
 * computer that does nothing else, and takes about a minute and a half a run.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { runRequestSchema } from '../../../contract/rpc/runs.ts';
import { engineBase } from '../../engineBase.ts';
import { resolveAppPaths } from '../../environment/appPaths.ts';
import { openService } from '../service.ts';
import { hasEnded } from '../runs/runSummary.ts';

interface Shape {
  name: string;
  sequences: number;
  /** Bases; from `length` to `longest`, evenly on a logarithmic scale. */
  length: number;
  longest?: number;
  devices?: string;
  /** Coding sequence without stops in one frame, else random letters. */
  coding?: boolean;
  /** So many times the same sequences. */
  copies?: number;
  /** A third of every sequence is N. */
  gaps?: boolean;
  gzip?: boolean;
  files?: number;
}

const SHAPES: Shape[] = [
  { name: 'genes of 1 kb', sequences: 300, length: 1_000, coding: true },
  { name: 'reads of 150 bases', sequences: 4_000, length: 150 },
  { name: 'contigs of 0.3 to 20 kb', sequences: 60, length: 300, longest: 20_000, coding: true },
  { name: 'reads of 40 bases', sequences: 5_000, length: 40 },
  { name: 'one genome of 300 kb', sequences: 1, length: 300_000, coding: true },
  { name: 'few contigs without genes', sequences: 60, length: 3_000 },
  { name: 'reads of 250 bases', sequences: 12_000, length: 250 },
  { name: 'reads of 100 bases', sequences: 8_000, length: 100 },
  { name: 'genes of 1.5 kb, many', sequences: 900, length: 1_500, coding: true },
  { name: 'contigs of 0.5 to 5 kb', sequences: 200, length: 500, longest: 5_000, coding: true },
  { name: 'mixed lengths of 40 to 40,000', sequences: 120, length: 40, longest: 40_000, coding: true },
  { name: 'reads of 75 bases, two workers', sequences: 8_000, length: 75, devices: 'cpu:2' },
  { name: 'contigs of 2 kb, two workers', sequences: 300, length: 2_000, devices: 'cpu:2', coding: true },
  { name: 'few long genomes', sequences: 3, length: 60_000, coding: true },
  { name: 'every gene twenty times', sequences: 20, length: 1_000, coding: true, copies: 20 },
  { name: 'contigs with a third of N', sequences: 150, length: 3_000, coding: true, gaps: true },
  { name: 'genes of 1 kb, gzip', sequences: 300, length: 1_000, coding: true, gzip: true },
  { name: 'reads of 200 bases in eight files', sequences: 4_000, length: 200, files: 8 },
  { name: 'many tiny ones of 30 bases', sequences: 10_000, length: 30 },
];

/** A shape that nobody chose: 1,500,000 to 15,000,000 bases in sequences of 40 to 20,000, some up to thirty times as long as others. */
function drawnShape(dice: () => number): Shape {
  const between = (low: number, high: number): number => low * (high / low) ** dice();
  const length = Math.round(between(40, 20_000));
  const longest = dice() < 0.5 ? length : Math.round(length * between(2, 30));
  const meanLength = longest === length ? length : (longest - length) / Math.log(longest / length);
  const sequences = Math.max(1, Math.round(between(1_500_000, 15_000_000) / meanLength));
  const shape: Shape = {
    name: '',
    sequences,
    length,
    longest,
    coding: dice() < 0.7,
    gzip: dice() < 0.3,
    gaps: dice() < 0.15,
    files: dice() < 0.25 ? Math.min(sequences, Math.round(between(2, 9))) : 1,
    devices: dice() < 0.3 ? 'cpu:2' : 'cpu:1',
  };
  const traits = [shape.coding && 'genes', shape.gaps && 'gaps', shape.gzip && 'gzip', shape.devices];
  const lengths = longest === length ? `${length}` : `${length} to ${longest}`;
  const files = shape.files === 1 ? '1 file' : `${shape.files} files`;
  return {
    ...shape,
    name: [`${sequences} of ${lengths} bases`, files, ...traits.filter(Boolean)].join(', '),
  };
}

/** Shares of the work done at which the time left is written down. */
const MARKS = [0.25, 0.5, 0.75];

interface Told {
  mark: number;
  atSeconds: number;
  left: { low: number; high: number } | null;
}

/** A sequence of random letters that any run of this program makes again. */
function letters(dice: () => number, length: number, coding: boolean): string {
  let text = '';
  while (text.length < length) {
    const codon = Array.from({ length: 3 }, () => 'ACGT'[Math.floor(dice() * 4)]).join('');
    if (!coding || !['TAA', 'TAG', 'TGA'].includes(codon)) text += codon;
  }
  return text.slice(0, length);
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Of a table: the range, and what it should have held where it did not. */
function cell(range: { low: number; high: number } | null | undefined, truth: number): string {
  if (!range) return '–';
  const text = `${range.low.toFixed(0)} to ${range.high.toFixed(0)} s`;
  return holds(range, truth) ? text : `**${text}**, was ${truth.toFixed(1)}`;
}

const holds = ({ low, high }: { low: number; high: number }, truth: number): boolean =>
  low <= truth && truth <= high;

/** The range and the truth: 12 to 40 s, was 21. */
function shown(range: { low: number; high: number } | null, truth: number): string {
  if (!range) return `unknown, was ${truth.toFixed(1)}`;
  const verdict = holds(range, truth) ? '' : ' WRONG';
  return `${range.low.toFixed(1)} to ${range.high.toFixed(1)} s, was ${truth.toFixed(1)}${verdict}`;
}

const { values, positionals } = parseArgs({
  options: { drawn: { type: 'string' }, seed: { type: 'string', default: '1' } },
  allowPositionals: true,
});
const draw = seeded(Number(values.seed));
const shapes =
  values.drawn === undefined ? SHAPES : Array.from({ length: Number(values.drawn) }, () => drawnShape(draw));
const paths = resolveAppPaths({ startFolder: import.meta.dirname });
if (!paths.ok) throw new Error(paths.error.cause);
const folder = await mkdtemp(join(tmpdir(), 'bench-estimates-'));
const storeHost = new URL('../../store/sqlite/hostEntry.ts', import.meta.url);
const base = engineBase({
  appVersion: 'bench',
  paths: { ...paths.value, dataDir: join(folder, 'data') },
  storeHost,
});
const service = await openService(base, {
  interpreter: join(paths.value.pythonBackend, '.venv', 'bin', 'python'),
});
const results = [];
for (const [number, shape] of shapes.entries()) {
  const dice = seeded(number + 1);
  const place = join(folder, 'inputs', String(number));
  await mkdir(place, { recursive: true });
  const once = Array.from({ length: shape.sequences }, () => {
    const length = Math.round(shape.length * ((shape.longest ?? shape.length) / shape.length) ** dice());
    const text = letters(dice, length, shape.coding ?? false);
    return shape.gaps ? text.replaceAll(/(.{200}).{100}/g, `$1${'N'.repeat(100)}`) : text;
  });
  const records = Array.from({ length: shape.copies ?? 1 }, () => once).flat();
  const fileCount = shape.files ?? 1;
  const inputs = await Promise.all(
    Array.from({ length: fileCount }, async (_, one) => {
      const text = records.map((record, i) => (i % fileCount === one ? `>s${i}\n${record}\n` : '')).join('');
      const path = join(place, `contigs${one}.fa${shape.gzip ? '.gz' : ''}`);
      await writeFile(path, shape.gzip ? gzipSync(text) : text);
      return path;
    }),
  );
  let frames = 0;
  let residues = 0;
  for await (const event of service.inspections.inspect(inputs, 500)) {
    if (event.type !== 'inspected') continue;
    frames += event.frames;
    residues += event.residues;
  }
  const request = runRequestSchema.parse({ inputs, model: 'demo', devices: shape.devices ?? 'cpu:1' });
  const runId = await service.control.create(request, place);
  const { plan, expected } = service.catalog.find(runId);
  const deviceNames = expected?.deviceNames ?? [];
  const predicted = service.speeds.seconds({
    modelHash: plan.model.hash,
    precision: plan.precision,
    deviceNames,
    frames,
    residues,
  });
  const { low, high } = predicted ?? {};
  const told: Told[] = [];
  while (!hasEnded(service.catalog.find(runId).state) || service.control.queue.active !== null) {
    const progress = service.open.session(service.catalog.folder(runId))?.progress();
    const mark = MARKS[told.length];
    if (progress && mark !== undefined && (progress.fraction ?? 0) >= mark)
      told.push({ mark, atSeconds: progress.elapsedSeconds, left: progress.remainingSeconds });
    await sleep(100);
  }
  const run = service.catalog.find(runId);
  if (run.state.phase !== 'done') throw new Error(`${shape.name}: ${run.state.phase}`);
  const { counts, devices } = await service.open.read(run.folder, async (store) => ({
    counts: (await store.loadRun()).counts,
    devices: await store.deviceSummaries(),
  }));
  const seconds = run.computingSeconds ?? 0;
  const before = shown(low === undefined || high === undefined ? null : { low, high }, seconds);
  const during = told.map(
    ({ mark, atSeconds, left }) => `${mark * 100} %: ${shown(left, seconds - atSeconds)}`,
  );
  process.stdout.write(`${[shape.name, `before: ${before}`, ...during].join('; ')}\n`);
  results.push({
    name: shape.name,
    deviceNames,
    expected: { frames, residues },
    counted: { frames: counts.frames.total, residues: counts.residues.total },
    devices: devices.map((device) => ({
      frames: device.frames,
      residues: device.residues,
      seconds: device.seconds,
    })),
    seconds,
    predicted: predicted && { low: predicted.low, high: predicted.high },
    told,
  });
  // What a run has shown is taken in a moment after it has come to rest.
  await sleep(500);
}
const ranges = results.flatMap(({ predicted: before, told, seconds }) => [
  ...(before ? [{ range: before, truth: seconds }] : []),
  ...told.flatMap(({ left, atSeconds }) => (left ? [{ range: left, truth: seconds - atSeconds }] : [])),
]);
const rows = results.map(({ name, predicted: before, told, seconds }) => {
  const marked = MARKS.map((mark) => {
    const one = told.find((each) => each.mark === mark);
    return one ? cell(one.left, seconds - one.atSeconds) : '–';
  });
  return `| ${[name, cell(before, seconds), ...marked, `${seconds.toFixed(1)} s`].join(' | ')} |`;
});
const right = ranges.filter(({ range, truth }) => holds(range, truth)).length;
process.stdout.write(
  [
    '',
    '| run | before the start | left at 25 % | at 50 % | at 75 % | took |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    `${right} of ${ranges.length} ranges held what came; those in bold did not.`,
    '',
  ].join('\n'),
);
const [resultsPath] = positionals;
if (resultsPath !== undefined) await writeFile(resultsPath, `${JSON.stringify(results, null, 2)}\n`);
await service.close();
await rm(folder, { recursive: true });
