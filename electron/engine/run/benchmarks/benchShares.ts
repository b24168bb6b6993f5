/**
 * `npm run bench -- shares [reads] [--shares N] [--json FILE]`: shares compute a made-up run of reads of one
 * chunk, which takes long and is not measured. The benchmark then measures how long `finish` takes, from
 * merging the first share to the last table, and how long it takes to sum up the statuses of 64, 512 and
 * 1,000 shares, and for how long that blocks everything else.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { unwrap } from '../../../contract/errors.ts';
import { runRequestSchema } from '../../../contract/rpc/runs.ts';
import { listForShares, mergeShares, shareNames } from '../shares/mergeShares.ts';
import { openShare } from '../shares/openShare.ts';
import { sharesSoFar } from '../shares/shareStatus.ts';
import { measuringComputer } from '../../testing/measuringComputer.ts';
import { testContext } from '../../testing/testContext.ts';
import { openRunStore, type RunStore } from '../../store/runStore.ts';
import { HOST_ENTRY, reportPrepare } from '../../store/testing/storeFixture.ts';
import {
  DESCRIPTION,
  recordOf,
  syntheticPlan,
  writePrepared,
  writeScores,
  type SyntheticPrepare,
} from '../../store/testing/syntheticRun.ts';

/** Most reads of 150 bp have one or two open frames. */
const OPEN_FRAMES = [0b1, 0b11, 0b10_0000, 0b1];
const FRAMES_PER_PART = 4_071;
const STATUSES = [64, 512, 1_000];
const DEVICES = 4;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { shares: { type: 'string', default: '1000' }, json: { type: 'string' } },
});
const reads = Number(positionals[0] ?? 1_000_000);
const shares = Number(values.shares);
const say = (line: string) => process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'virnucpro-bench-'));
  try {
    say(`Making ${reads.toLocaleString('en')} reads, computed by ${shares} shares ...`);
    const { store, prepared } = await makeRun(folder);
    const status = [];
    for (const count of STATUSES) status.push(await measureStatus(store, count));
    const computed = await computeShares(folder, prepared);
    const finish = await measureFinish(store);
    await store.close();
    const parts = prepared.parts.length;
    const results = { computer: measuringComputer(), reads, parts, shares: computed, finish, status };
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function makeRun(folder: string): Promise<{ store: RunStore; prepared: SyntheticPrepare }> {
  const records = Array.from({ length: reads }, (_, row) =>
    recordOf(`SRR000001.${row} length=150`, [OPEN_FRAMES[row % OPEN_FRAMES.length] ?? 1]),
  );
  const prepared = writePrepared(folder, [records], { framesPerPart: FRAMES_PER_PART });
  const plan = syntheticPlan(1);
  const request = runRequestSchema.parse({ inputs: plan.inputs.map(({ path }) => path), model: 'teaching' });
  const store = await openRunStore(folder, {
    hostEntry: HOST_ENTRY,
    create: { plan, description: { ...DESCRIPTION, runId: randomUUID(), options: { request } } },
  });
  await reportPrepare(store, prepared);
  await listForShares(store);
  return { store, prepared };
}

/** Computes through the stores of shares, with made-up scores. */
async function computeShares(folder: string, { frames, parts }: SyntheticPrepare): Promise<number> {
  let computed = 0;
  for (let index = 1; index <= shares; index++) {
    const share = unwrap(await openShare(testContext(), folder, { index, of: shares }));
    if (share === null) continue;
    for (const { key } of await share.store.pendingParts()) {
      const part = parts[Number(key)];
      if (!part) throw new Error(`there is no part ${key}`);
      const report = writeScores(
        share.folder,
        part,
        key,
        frames.get(key) ?? [],
        ({ row }) => (row % 97) / 97,
      );
      const start = { part: key, device: 'cpu:0', workerPid: 1, startedAt: 0, log: null };
      const intake = await share.store.completePart(report, (await share.store.startAttempt(start)) ?? -1, 1);
      if (intake.outcome !== 'taken') throw new Error(intake.outcome);
    }
    await share.store.setState({ phase: 'done', failedParts: 0, failedRecords: 0 });
    await share.close();
    computed += 1;
  }
  return computed;
}

async function measureFinish(store: RunStore) {
  const begun = performance.now();
  await mergeShares(store, { add: () => undefined });
  const takenOver = performance.now();
  const unfinished = shareNames(store.folder);
  if (unfinished.length > 0) throw new Error(`not taken over: ${unfinished.join(', ')}`);
  const { files } = await store.writeTables();
  await store.saveResultFiles(files);
  const ended = performance.now();
  const seconds = { takingOver: inSeconds(takenOver - begun), tables: inSeconds(ended - takenOver) };
  const databaseBytes = statSync(join(store.folder, 'run.db')).size;
  const together = inSeconds(ended - begun);
  say(`finish: ${together} s (taking over ${seconds.takingOver} s, tables ${seconds.tables} s)`);
  return { together, ...seconds, databaseBytes };
}

async function measureStatus(store: RunStore, count: number) {
  const { residues } = (await store.loadRun()).counts;
  for (let index = 1; index <= count; index++) writeStatus(store.folder, index, count, residues.total);
  const held = monitorEventLoopDelay({ resolution: 1 });
  held.enable();
  const begun = performance.now();
  const found = await sharesSoFar(store);
  const milliseconds = Math.round(performance.now() - begun);
  held.disable();
  const longestHoldMs = Math.round(held.max / 1e6);
  say(
    `${count} shares: ${milliseconds} ms, of which nothing else could be done for at most ${longestHoldMs} ms`,
  );
  if (found?.devices.length !== count * DEVICES) throw new Error('devices are missing');
  rmSync(join(store.folder, 'shares'), { recursive: true });
  return { shares: count, devices: count * DEVICES, milliseconds, longestHoldMs };
}

function writeStatus(folder: string, index: number, of: number, residues: number): void {
  const device = (number: number) => ({
    ...{ id: `GPU-${index}-${number}`, name: 'NVIDIA H200', index: number },
    place: { node: `node${index}`, number },
    worker: { state: 'working', part: '000001', phase: null },
    ...{
      partFraction: 0.5,
      partsDone: 1,
      residuesDone: 1000,
      residuesPerSecond: 100_000,
      framesPerSecond: 2000,
    },
    ...{ tokensPerBatch: 24_576, placement: null, utilizationPercent: 99, memoryUsedBytes: 1e10 },
    ...{ memoryTotalBytes: 1.5e11, temperatureC: 60, powerW: 690 },
  });
  const status = {
    ...{ version: 1, node: `node${index}`, time: Date.now(), phase: 'running', error: null },
    ...{ parts: { total: 100, done: 10 }, framesLeft: 0, residuesLeft: Math.floor(residues / of / 2) },
    devices: Array.from({ length: DEVICES }, (_, number) => device(number)),
  };
  const at = join(folder, 'shares', `${index}-of-${of}`);
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, 'status.json'), JSON.stringify(status));
}

const inSeconds = (milliseconds: number): number => Math.round(milliseconds / 100) / 10;

await main();
