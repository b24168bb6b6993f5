/**
 * `npm run bench -- shares [reads] [--shares N] [--json FILE]`: shares compute a made-up run of reads of one
 * chunk, in one process for each processor, which is not measured. The benchmark then measures how long `finish` takes, from
 * merging the first share to the last table, and how long it takes to sum up the statuses of 64, 512 and
 * 1,000 shares, and for how long that blocks everything else.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { unwrap } from '../../../contract/errors.ts';
import { NO_WORKER_FIGURES, runRequestSchema } from '../../../contract/rpc/runs.ts';
import { listForShares, mergeShares, shareNames } from '../shares/mergeShares.ts';
import { openShare } from '../shares/openShare.ts';
import { sharesSoFar } from '../shares/shareStatus.ts';
import { measuringComputer } from '../../testing/measuringComputer.ts';
import { testContext } from '../../testing/testContext.ts';
import { openRunStore, type RunStore } from '../../store/runStore.ts';
import { HOST_ENTRY, reportPrepare } from '../../store/testing/storeFixture.ts';
import {
  DESCRIPTION,
  framesOf,
  recordOf,
  syntheticPlan,
  writePrepared,
  writeScores,
} from '../../store/testing/syntheticRun.ts';

/** Most reads of 150 bp have one or two open frames. */
const OPEN_FRAMES = [0b1, 0b11, 0b10_0000, 0b1];
const openFramesOf = (row: number): number => OPEN_FRAMES[row % OPEN_FRAMES.length] ?? 1;
const FRAMES_PER_PART = 4_071;
const STATUSES = [64, 512, 1_000];
const DEVICES = 4;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shares: { type: 'string', default: '1000' },
    json: { type: 'string' },
    // Set by the benchmark itself, for the processes that compute shares.
    folder: { type: 'string' },
    first: { type: 'string' },
  },
});
const reads = Number(positionals[0] ?? 1_000_000);
const shares = Number(values.shares);
const processes = availableParallelism();
const say = (line: string) => process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'virnucpro-bench-'));
  try {
    say(`Making ${reads.toLocaleString('en')} reads, computed by ${shares} shares ...`);
    const { store, parts } = await makeRun(folder);
    const status = [];
    for (const count of STATUSES) status.push(await measureStatus(store, count));
    await computeInProcesses(folder);
    const computed = shareNames(folder).length;
    const finish = await measureFinish(store);
    await store.close();
    const results = { computer: measuringComputer(), reads, parts, shares: computed, finish, status };
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function makeRun(folder: string): Promise<{ store: RunStore; parts: number }> {
  const records = Array.from({ length: reads }, (_, row) =>
    recordOf(`SRR000001.${row} length=150`, [openFramesOf(row)]),
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
  return { store, parts: prepared.parts.length };
}

async function computeInProcesses(folder: string): Promise<void> {
  const own = [...process.execArgv, import.meta.filename, String(reads), `--shares=${shares}`];
  await Promise.all(
    Array.from({ length: processes }, (_, i) =>
      execa(process.execPath, [...own, `--folder=${folder}`, `--first=${i + 1}`], { stdio: 'inherit' }),
    ),
  );
}

/** Computes every n-th share from the first through the shares' own stores, with made-up scores. */
async function computeShares(folder: string, first: number): Promise<void> {
  for (let index = first; index <= shares; index += processes) {
    const share = unwrap(await openShare(testContext(), folder, { index, of: shares }));
    if (share === null) continue;
    for (const { key, residues, firstRow, lastRow } of await share.record.store.pendingParts()) {
      const rows = Array.from({ length: lastRow - firstRow + 1 }, (_, place) => firstRow + place);
      const frames = rows.flatMap((row) =>
        framesOf(openFramesOf(row)).map((frame) => ({ row, chunk: 0, frame })),
      );
      const report = writeScores(share.folder, { residues }, key, frames, ({ row }) => (row % 97) / 97);
      const start = { part: key, device: 'cpu:0', workerPid: 1, startedAt: 0, log: null };
      const intake = await share.record.store.completePart(
        report,
        (await share.record.store.startAttempt(start)) ?? -1,
        1,
      );
      if (intake.outcome !== 'taken') throw new Error(intake.outcome);
    }
    await share.record.store.setState({ phase: 'done', failedParts: 0, failedRecords: 0 });
    await share.close();
  }
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
    ...{ memoryTotalBytes: 1.5e11, temperatureC: 60, powerW: 690, ...NO_WORKER_FIGURES },
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

if (values.folder === undefined) await main();
else await computeShares(values.folder, Number(values.first));
