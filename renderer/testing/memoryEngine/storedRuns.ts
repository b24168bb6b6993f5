import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deviceNamed, message, type Message, type RunSummary } from '../../../electron/contract/index.ts';
import { addOtherTable } from '../../../electron/engine/exports/otherTools/joinOtherTable.ts';
import { readOtherTable } from '../../../electron/engine/exports/otherTools/readOtherTable.ts';
import { chunkCount } from '../../../electron/engine/results/sequenceTally.ts';
import { openRunStore, type RunStore } from '../../../electron/engine/store/runStore.ts';
import { scoresFor } from '../../../electron/engine/store/testing/storeFixture.ts';
import {
  inputHash,
  writePrepared,
  type FrameRef,
  type SyntheticRecord,
} from '../../../electron/engine/store/testing/syntheticRun.ts';
import { testBundle } from '../../../electron/engine/testing/testBundles.ts';
import { RUN_IDS } from './runs.ts';
import { isAtWork, type World } from './world.ts';

// Vite would rewrite an address relative to this module.
const HOST_ENTRY = testBundle(
  'storeHost.mjs',
  pathToFileURL(join(import.meta.dirname, '../../../electron/engine/store/hostEntry.ts')),
);
/** Open frames of a chunk, as bits; a quarter has none. */
const MASKS = [0, 1, 8, 20];
const ROUNDS = 4;
const PARTS = 16;
/** Samples of a device, which it has had every so many seconds. */
const [SAMPLES, STEP_SECONDS] = [120, 18];

/** From 0 to 1; the same in every test and picture. */
function chance(row: number, of: number): number {
  const mixed = Math.imul(row * 128 + of + 1, 0x9e37_79b1);
  const again = Math.imul(mixed ^ (mixed >>> 15), 0x85eb_ca6b);
  return ((again ^ (again >>> 13)) >>> 0) / 2 ** 32;
}

/** Sequences that look viral score high in all of their frames. */
const looksViral = (row: number) => chance(row, 0) < 0.2;

const seqName = (row: number) => `k141_${(row * 7919) % 1_000_003}`;

function madeRecord(row: number): SyntheticRecord {
  const length = Math.round(300 + 4000 * chance(row, 1) ** 3);
  return {
    header: `${seqName(row)} flag=${row % 4} multi=2.0000 len=${length}`,
    length,
    openFrames: Array.from(
      { length: chunkCount(length, 500) },
      (_, chunk) => MASKS[Math.floor(MASKS.length * chance(row, 2 + chunk))] ?? 0,
    ),
    ...(row % 211 === 5 ? { repeat: 127 } : {}),
    ...(row % 307 === 3 ? { geneticCode: 15 } : {}),
  };
}

/** The folders of the invented runs with real databases, each of which is filled when it is first asked for. */
export class StoredRuns {
  private readonly world: World;
  private place: string | undefined;
  private readonly stores = new Map<string, Promise<RunStore>>();

  constructor(world: World) {
    this.world = world;
  }

  folder(runId: string): string {
    this.place ??= mkdtempSync(join(tmpdir(), 'virnucpro-window-'));
    const folder = join(this.place, runId);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  of(runId: string): Promise<RunStore> {
    const store = this.stores.get(runId) ?? this.fill(this.world.find(runId));
    this.stores.set(runId, store);
    return store;
  }

  /** As the service reads a run. */
  async read<Answer>(folder: string, ask: (store: RunStore) => Promise<Answer>): Promise<Answer> {
    return ask(await this.of(basename(folder)));
  }

  async close(): Promise<void> {
    await Promise.all([...this.stores.values()].map(async (store) => (await store).close()));
    if (this.place !== undefined) rmSync(this.place, { recursive: true });
  }

  private async fill(run: RunSummary): Promise<RunStore> {
    const { runId, name, plan, state, samples } = run;
    const failedInputs = state.phase === 'done' ? (state.failedInputs ?? 0) : 0;
    const leftOut = Array.from({ length: failedInputs }, (_, index) => ({
      ...{ path: `/data/depth-profile/notes${index === 0 ? '' : index + 1}.fa`, code: 'document' as const },
      values: {},
    }));
    const description = {
      ...{ runId, name, createdAt: Date.parse(run.createdAt), appVersion: '0.1.0' },
      options: { samples, leftOut },
    };
    const inputs = plan.inputs.map((input, index) => ({ ...input, sha256: inputHash(index) }));
    const store = await openRunStore(this.folder(runId), {
      hostEntry: HOST_ENTRY,
      create: { plan: { ...plan, inputs }, description },
      writesOnly: true,
    });
    if (run.fraction !== null) await this.compute(run, store);
    await store.setState(state);
    return store;
  }

  /** Reads the run's sequences, and computes as many parts as its fraction says, or fails. */
  private async compute(run: RunSummary, store: RunStore): Promise<void> {
    const { plan, state } = run;
    const { devices } = this.world;
    const count = this.world.sequencesOf(run);
    const records = Array.from({ length: count }, (_, row) => madeRecord(row));
    const ofInput = Math.ceil(count / plan.inputs.length);
    const prepared = writePrepared(
      store.folder,
      plan.inputs.map((_, input) => records.slice(input * ofInput, (input + 1) * ofInput)),
      { framesPerPart: Math.ceil((2 * count) / PARTS), roundOf: (row, chunk) => (row + chunk) % ROUNDS },
    );
    for (const file of prepared.records) await store.ingestRecords(file);
    for (const part of prepared.parts) await store.registerPart(part);
    for (const input of prepared.inputs) await store.finishInput(input);
    await store.addInputProblem({
      ...{ type: 'input_problem', input: 0, code: 'duplicate_ids', values: {}, count: 12 },
      examples: [{ row: 4, name: seqName(4), detail: 'also row 3' }],
    });
    if (!isAtWork(run)) await store.finishPrepare(prepared.done);

    await store.saveDevices(
      devices.map(({ id, name, index }) => ({ id, name, kind: 'cuda', facts: { index }, switchedOff: null })),
    );
    const failed = state.phase === 'done' ? state.failedParts : 0;
    const begun = Date.parse(run.createdAt);
    const parts = (await store.pendingParts()).toSorted((a, b) => a.round - b.round);
    // Another run of the same sequences calls some of them otherwise.
    const isOther = run.runId !== RUN_IDS.done;
    const score2Of = ({ row, chunk, frame }: FrameRef) => {
      const own = chance(row, 20 + 6 * chunk + frame);
      return looksViral(row) !== (isOther && row % 37 === 0) ? 1 - 0.3 * own ** 2 : 0.6 * own ** 2;
    };
    for (const [index, { key }] of parts.slice(0, Math.ceil(parts.length * (run.fraction ?? 0))).entries()) {
      const device = devices[index % devices.length]?.id ?? 'cpu:0';
      const start = { part: key, device, workerPid: 77, startedAt: begun, log: 'logs/worker-2.log' };
      const attempt = (await store.startAttempt(start)) ?? Number.NaN;
      if (index < failed) {
        await store.failPart(key, { code: 'out_of_memory', message: 'CUDA out of memory' });
        continue;
      }
      const report = await scoresFor({ folder: store.folder, prepared, store }, key, score2Of);
      const unusual = run.runId === RUN_IDS.withFailures && {
        frames_outside_norm_band: 3,
        norms: { esm2: [9.1, 17.2] as [number, number], dnabert_s: [2.4, 4.3] as [number, number] },
      };
      await store.completePart({ ...report, ...unusual }, attempt, begun + 11_500);
    }
    await this.addTelemetry(store, begun);
    if (run.runId === RUN_IDS.done) await this.addTables(store);
  }

  /** Samples with a pause between them, of which the third device is hot and slow, and what was noted. */
  private async addTelemetry(store: RunStore, begun: number): Promise<void> {
    const { devices } = this.world;
    const points = Array.from({ length: SAMPLES }, (_, point) => point).filter((at) => at < 60 || at > 70);
    await store.addSamples(
      devices.flatMap(({ id }, index) =>
        points.map((point) => {
          const wave = Math.sin(point / 9 + index);
          return {
            device: id,
            time: begun + 1000 * point * STEP_SECONDS,
            utilizationPercent: 94 + 4 * wave,
            memoryUsedBytes: Math.round((61 + 2 * wave) * 2 ** 30),
            powerW: (index === 2 ? 330 : 610) + 30 * wave,
            temperatureC: (index === 2 ? 88 : 64) + 2 * wave,
            residuesPerSecond: (index === 2 ? 29_000 : 41_000) + 1500 * wave,
            framesPerSecond: 245,
          };
        }),
      ),
    );
    const gpu = (index: number) => deviceNamed({ id: devices[index]?.id ?? '', name: 'NVIDIA H200' });
    const killed = message('worker.stopped', { device: 'GPU-5', how: message('exit.killed') });
    const smaller = { device: gpu(2), after: 12_288, before: 24_576 };
    const notes: [number, 'warning' | 'error', Message, string | null][] = [
      [7, 'warning', message('note.smaller_batches', smaller), null],
      [15, 'warning', message('note.worker_restarts', { device: gpu(5), cause: killed }), 'Traceback …'],
      [35, 'error', message('note.part_failed', { part: '000077', text: 'out_of_memory' }), null],
    ];
    for (const [minutes, level, { text, wording }, detail] of notes)
      await store.addEvent({
        ...{ time: begun + minutes * 60_000, level, code: 'note', message: text, detail },
        ...(wording && { wording }),
      });
  }

  /** What other tools said of the same sequences: mostly the same. */
  private async addTables(store: RunStore): Promise<void> {
    const { total } = await store.countPredictions({ filter: {} });
    const rows = Array.from({ length: total }, (_, row) => row).filter(
      (row) => row % 29 === 0 || (looksViral(row) && row % 6 > 0),
    );
    const tables = [
      ['gut_virus_summary.tsv', 'seq_name\tvirus_score\tn_hallmarks\ttaxonomy', '2\tViruses;Caudoviricetes'],
      ['dvfpred.txt', 'name\tscore\tlen\tpvalue', '900\t0.01'],
    ] as const;
    for (const [file, head, rest] of tables.slice(0, this.world.tables)) {
      const path = join(store.folder, file);
      writeFileSync(
        path,
        [head, ...rows.map((row) => `${seqName(row)}\t0.9${row % 90}\t${rest}`)].join('\n'),
      );
      addOtherTable(store.folder, await readOtherTable(path));
    }
  }
}
