/** Makes a run whose parts are all prepared, for benchScale.ts: makeRun.ts FOLDER PARTS FRAMES_PER_PART */
import { mkdirSync } from 'node:fs';
import { RESIDUES_PER_PART } from '../../../../contract/plan.ts';
import { unwrap } from '../../../../contract/result.ts';
import { runRequestSchema } from '../../../../contract/rpc/runs.ts';
import { resolveModel } from '../../../models/resolveModel.ts';
import { makeWorkFolders } from '../../../store/runFolder.ts';
import { openRunStore } from '../../../store/runStore.ts';
import { DESCRIPTION, recordOf, syntheticPlan, writePrepared } from '../../../store/testing/syntheticRun.ts';
import { APP_PATHS } from '../../../testing/realFiles.ts';

/** Two open frames in each chunk, as contigs have. */
const OPEN_FRAMES = 0b001001;
const FRAMES_PER_CHUNK = 2;
const CHUNKS_PER_RECORD = 10;

const [run = '', parts = '1', frames = '1'] = process.argv.slice(2);
const framesPerPart = Number(frames);
const masks = Array<number>(CHUNKS_PER_RECORD).fill(OPEN_FRAMES);
const records = Array.from(
  { length: Math.ceil((Number(parts) * framesPerPart) / (FRAMES_PER_CHUNK * CHUNKS_PER_RECORD)) },
  (_, row) => recordOf(`contig_${row}`, masks),
);
mkdirSync(run);
makeWorkFolders(run);
const prepared = writePrepared(run, [records], { framesPerPart });
const { planModel } = unwrap(await resolveModel('demo', APP_PATHS));
const plan = { ...syntheticPlan(1), model: planModel, residuesPerPart: RESIDUES_PER_PART.gpu };
const request = runRequestSchema.parse({
  inputs: plan.inputs.map(({ path }) => path),
  model: 'demo',
  where: { kind: 'ray', address: 'simulated:1', shared_storage: true, cpu_workers_per_node: 1 },
});
const store = await openRunStore(run, {
  hostEntry: new URL('../../../store/sqlite/hostEntry.ts', import.meta.url),
  create: { plan, description: { ...DESCRIPTION, options: { request } } },
});
for (const file of prepared.records) await store.ingestRecords(file);
for (const part of prepared.parts) await store.registerPart(part);
for (const input of prepared.inputs) await store.finishInput(input);
await store.finishPrepare(prepared.done);
await store.close();
