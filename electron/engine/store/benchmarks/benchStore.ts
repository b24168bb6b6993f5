/** Measures the store on a made-up run: node electron/engine/store/benchmarks/benchStore.ts [frames] */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRunStore } from '../runStore.ts';
import { DESCRIPTION, recordOf, syntheticPlan, writePrepared, writeScores } from '../testing/syntheticRun.ts';

const FRAMES_PER_PART = 1600;
const frames = Number(process.argv[2] ?? 1_000_000);
const folder = mkdtempSync(join(tmpdir(), 'virnucpro-bench-'));
const hostEntry = new URL('../sqlite/hostEntry.ts', import.meta.url);

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

let seed = 1;
function random(): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
  return seed / 2 ** 32;
}

/** Reads and contigs: about three chunks a record, a third of them without an open frame, else one or two frames. */
const MASKS = [0, 0, 1, 2, 9, 16, 33, 24, 4];
const records = [];
for (let made = 0; made < frames;) {
  const openFrames = Array.from(
    { length: 1 + Math.floor(5 * random()) },
    () => MASKS[Math.floor(MASKS.length * random())]!,
  );
  for (const mask of openFrames) made += mask.toString(2).replaceAll('0', '').length;
  records.push(recordOf(`contig_${records.length} length=${openFrames.length * 500} sample=A`, openFrames));
}
const prepared = writePrepared(folder, [records], { framesPerPart: FRAMES_PER_PART });
const score = () => 1 / (1 + Math.exp(-12 * (random() - 0.5)));
const reports = prepared.parts.map((part) =>
  writeScores(folder, part, part.key, prepared.frames.get(part.key)!, score),
);

const store = await openRunStore(folder, {
  hostEntry,
  create: { plan: syntheticPlan(1), description: DESCRIPTION },
});
async function measure<Value>(
  what: string,
  amount: number,
  unit: string,
  work: () => Promise<Value>,
): Promise<Value> {
  const begun = performance.now();
  const value = await work();
  const seconds = (performance.now() - begun) / 1000;
  say(`${what}: ${seconds.toFixed(2)} s, ${Math.round(amount / seconds).toLocaleString('en')} ${unit}/s`);
  return value;
}

const { done } = prepared;
say(`${done.records} records, ${done.chunks} chunks, ${done.frames} frames, ${done.parts} parts`);
await measure('records', done.records, 'records', async () => {
  for (const file of prepared.records) await store.ingestRecords(file);
});
await measure('parts', done.parts, 'parts', async () => {
  for (const part of prepared.parts) await store.registerPart(part);
});
await store.finishInput(prepared.inputs[0]!);
await measure('finish prepare', done.records, 'records', () => store.finishPrepare(done));
await measure('scores', done.frames, 'frames', async () => {
  for (const report of reports) {
    const start = { part: report.part, device: 'cpu:0', workerPid: 1, startedAt: 0, log: null };
    const attempt = await store.startAttempt(start);
    const intake = await store.completePart(report, attempt ?? -1, 1);
    if (intake.outcome !== 'taken') throw new Error(intake.outcome);
  }
});
await measure('verify of nothing pending', 1, 'calls', () => store.verifyPendingParts());
await measure('compare with checksums', done.frames, 'frames', () => store.findDamage());
const written = await measure('tables', done.frames, 'frames', () => store.writeTables());
await measure('tables again', done.frames, 'frames', () => store.writeTables());
await measure('page by score', 1, 'pages', () =>
  store.findSequences({ filter: {} }, { by: 'virusScore', descending: true }, 1000, 100),
);
await measure('page by name, filtered', 1, 'pages', () =>
  store.findSequences(
    { filter: { search: '99', minLength: 600 } },
    { by: 'seqName', descending: false },
    0,
    100,
  ),
);
await measure('histogram', 1, 'histograms', () => store.scoreBins({ filter: {} }, 50));
await measure('close', 1, 'closes', () => store.close());
say(
  `${JSON.stringify(written.counts.byPrediction)} run.db ${(statSync(join(folder, 'run.db')).size / 1e6).toFixed(0)} MB`,
);
say(
  `peak memory ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB, this program's own arrays included`,
);
rmSync(folder, { recursive: true });
