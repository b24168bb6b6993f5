import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { appError } from '../../../contract/errors.ts';
import type { PartDone } from '../../../contract/protocol/index.ts';
import { preparedRun, scoresFor, type PreparedRun } from '../../store/testing/storeFixture.ts';
import { recordOf, type FrameRef, type SyntheticRecord } from '../../store/testing/syntheticRun.ts';
import { deviceReports, runJson, writeRunJson } from './runJson.ts';

const faults = (count: number, fault: NonNullable<SyntheticRecord['fault']>): SyntheticRecord[] =>
  Array.from({ length: count }, (_, i) => ({ header: `${fault} ${i}`, length: 0, openFrames: [], fault }));

/**
 * 3 virus, 2 others, 15 not scored and 1 failed, for reasons that are also found different numbers of times, so that
 * mixing up counts fails the test.
 */
const INPUTS = [
  [
    recordOf('virus in three chunks', [0b000111, 0b000001, 0b100010]),
    recordOf('virus', [0b011000]),
    recordOf('another virus', [0b000001]),
    ...faults(3, 'empty'),
  ],
  [
    recordOf('closed', [0]),
    recordOf('not a virus', [0b000011, 0b001100]),
    recordOf('nor this', [0b000001]),
    recordOf('closed twice', [0, 0]),
    ...faults(4, 'invalid_characters'),
    recordOf('lost with its part', [0b111000]),
    ...faults(6, 'malformed_record'),
  ],
];
const VIRUSES = [0, 1, 2];
const score = ({ row }: FrameRef) => (VIRUSES.includes(row) ? 0.75 : 0.25);

const TIMINGS = { createdAt: 1000, startedAt: 2000, lastChangeAt: 9000, workingMilliseconds: 2_000_000 };
const IMPORTED = {
  folder: '/old',
  tool: 'fork' as const,
  precision: null,
  indexSha256: 'a'.repeat(64),
  frames: 21,
  framesDnabertS: 22,
  framesEsm2: 23,
  rowsLeftOut: 24,
  filesUsed: 25,
  filesRefused: 26,
  refused: [{ path: 'x.pt', why: 'damaged' }],
};
const TRUSTED = {
  file: 'host.fasta',
  calibratedAt: '2026-01-01T00:00:00.000Z',
  classes: [{ from: 1, scored: 99, scores: [0.9] }],
};
const CONTROLS = {
  checkedAt: '2026-11-20T09:30:00.000Z',
  kind: 'cuda',
  deviceName: 'H200',
  precision: 'fp32',
  verdict: 'works',
  quick: true,
  panelSha256: 'e'.repeat(64),
  viral: { called: 19, scored: 20 },
  host: { called: 1, scored: 18 },
};
const FACTS = {
  appVersion: '1.2.3',
  backendVersion: '1.2.4',
  pythonVersion: '3.12.1',
  torchVersion: '2.11.0',
  platform: 'linux x64',
  inputSeconds: [1.5, 2.5],
  tolerance: 1e-5,
};

/** Five of six parts done, three by the processor and two by the GPU; the last part failed. */
async function computed(run: PreparedRun): Promise<void> {
  const { store } = run;
  const pending = await store.pendingParts();
  for (const [number, { key }] of pending.slice(0, -1).entries()) {
    const device = number < 3 ? 'cpu:0' : 'gpu-1';
    const attempt = await store.startAttempt({
      part: key,
      device,
      workerPid: 77,
      startedAt: 1000,
      log: null,
    });
    const done: PartDone = {
      ...(await scoresFor(run, key, score)),
      seconds: number < 3 ? 100 : 700,
      frames_recomputed_fp32: number < 2 ? 5 : 0,
      batch_halvings: number < 4 ? 1 : 0,
      repeated_proteins: 7 * number,
      repeated_nucleotides: 11 * number,
      frames_outside_norm_band: 13 * number,
      norms: { esm2: [13 - number, 14.5], dnabert_s: [2.5, 4 + number] },
    };
    expect((await store.completePart(done, attempt ?? -1, 2000)).outcome).toBe('taken');
  }
  await store.failPart(pending.at(-1)?.key ?? '', { code: 'device_lost', message: 'gone' });
}

it('gives every fact of a run with its value', async () => {
  const run = await preparedRun(INPUTS, 3, { model: { normBands: { esm2: [12, 16], dnabert_s: [2, 5] } } });
  const { store } = run;
  await store.saveDevices([
    {
      id: 'gpu-1',
      name: 'H200',
      kind: 'cuda',
      facts: { node: 'node-a', cores: 8, controls: CONTROLS },
      switchedOff: null,
    },
    {
      id: 'cpu:0',
      name: 'Xeon',
      kind: 'cpu',
      facts: {},
      switchedOff: appError('device_switched_off', 'It failed twice.'),
    },
  ]);
  await store.addEvent({
    time: 1000,
    level: 'warning',
    code: 'worker_stalled',
    message: 'It stalled.',
    detail: 'a trace',
  });
  await computed(run);
  const tables = { ...(await store.writeTables()), seconds: 0.25 };
  const stored = await store.loadRun();
  const measured = {
    device: 'gpu-1',
    sampledMilliseconds: 1_500_000,
    utilizationMeanPercent: 81.26,
    utilizationMedianPercent: 90.04,
    memoryPeakBytes: 9e9,
    powerMeanW: 512.34,
    energyWh: 3.14159,
  };
  const devices = deviceReports(stored.devices, await store.deviceSummaries(), [measured], TIMINGS);
  const content = runJson(
    { ...stored, plan: { ...stored.plan, imported: IMPORTED, repairs: ['remove_gaps'], trusted: TRUSTED } },
    TIMINGS,
    devices,
    await store.remarks(10),
    tables,
    FACTS,
  );
  await store.close();
  writeRunJson(run.folder, content);

  expect(JSON.parse(readFileSync(join(run.folder, 'run.json'), 'utf8'))).toEqual({
    format: 1,
    notice: 'teaching model, not for research',
    run: { id: 'run-1', name: 'Synthetic', options: { samples: ['pond'] } },
    versions: {
      app: '1.2.3',
      app_at_creation: '0.1.0',
      backend: '1.2.4',
      python: '3.12.1',
      torch: '2.11.0',
      platform: 'linux x64',
    },
    plan: {
      chunk_length: 500,
      precision: 'fp32',
      tokens_per_batch: 4096,
      residues_per_part: 16384,
      tail_parts: 32,
      order: 'file',
      order_seed: 0,
      first_round: 1 / 256,
      repairs: ['remove_gaps'],
      embed_equal_sequences_once: true,
      embeddings: null,
      imported: {
        folder: '/old',
        tool: 'fork',
        precision: 'unknown',
        frames: 21,
        frames_dnabert_s: 22,
        frames_esm2: 23,
        rows_left_out: 24,
        files_used: 25,
        files_refused: 26,
        refused: [{ path: 'x.pt', why: 'damaged' }],
      },
      p_values_against: { file: 'host.fasta', calibrated_at: '2026-01-01T00:00:00.000Z' },
      model: {
        name: 'teaching',
        title: 'Teaching model',
        sha256: 'f'.repeat(64),
        folder: '/models/teaching',
      },
    },
    inputs: [
      {
        path: '/data/reads_0.fasta',
        bytes: 1000,
        sha256: '0'.repeat(64),
        records: 6,
        bases: 2493,
        device_seconds: 1.5,
        problems: [],
      },
      {
        path: '/data/reads_1.fasta',
        bytes: 1000,
        sha256: '1'.repeat(64),
        records: 15,
        bases: 3486,
        device_seconds: 2.5,
        problems: [],
      },
    ],
    controls: [
      {
        checked_at: '2026-11-20T09:30:00.000Z',
        kind: 'cuda',
        device: 'H200',
        precision: 'fp32',
        verdict: 'works',
        quick: true,
        panel_sha256: 'e'.repeat(64),
        viral: { called_virus: 19, scored: 20 },
        host: { called_virus: 1, scored: 18 },
      },
    ],
    devices: [
      {
        id: 'cpu:0',
        name: 'Xeon',
        kind: 'cpu',
        switched_off: 'It failed twice.',
        parts: 3,
        frames: 9,
        residues: 90,
        seconds: 300,
        residues_per_second: 0.3,
        busy_share: 0.15,
        kept_busy: false,
        utilization_mean_percent: null,
        utilization_median_percent: null,
        memory_peak_bytes: null,
        power_mean_w: null,
        energy_wh: null,
      },
      {
        id: 'gpu-1',
        name: 'H200',
        kind: 'cuda',
        node: 'node-a',
        cores: 8,
        switched_off: null,
        parts: 2,
        frames: 5,
        residues: 50,
        seconds: 1400,
        residues_per_second: 0,
        busy_share: 0.9333,
        kept_busy: true,
        utilization_mean_percent: 81.3,
        utilization_median_percent: 90,
        memory_peak_bytes: 9e9,
        power_mean_w: 512.3,
        energy_wh: 3.142,
      },
    ],
    cluster: {
      nodes: [{ node: 'node-a', devices: [{ id: 'gpu-1', name: 'H200', parts: 2 }] }],
      equality: expect.stringContaining('(0.00001)') as string,
    },
    remarks: [
      { time: '1970-01-01T00:00:01.000Z', level: 'warning', code: 'worker_stalled', message: 'It stalled.' },
    ],
    counts: {
      records: 21,
      chunks: 12,
      chunks_scored: 8,
      chunks_viral: 5,
      frames: 17,
      frames_scored: 14,
      residues: 170,
      by_prediction: { virus: 3, others: 2, not_scored: 15, failed: 1 },
      by_reason: {
        ok: 5,
        empty: 3,
        below_min_length: 0,
        no_open_frame: 2,
        invalid_characters: 4,
        malformed_record: 6,
        worker_failure: 1,
        out_of_memory: 0,
        non_finite: 0,
        not_computed: 0,
      },
      parts: { pending: 0, assigned: 0, done: 5, failed: 1, split: 0, skipped: 0 },
      parts_bounded: 4,
      parts_recomputed_fp32: 2,
      frames_protein_repeated: 70,
      frames_nucleotides_repeated: 110,
      frames_outside_norm_band: 130,
      norms: {
        esm2: { low: 9, high: 14.5, expected: [12, 16] },
        dnabert_s: { low: 2.5, high: 8, expected: [2, 5] },
      },
      parts_failed: 1,
      tolerance: 1e-5,
    },
    timings: {
      created_at: '1970-01-01T00:00:01.000Z',
      started_at: '1970-01-01T00:00:02.000Z',
      finished_at: '1970-01-01T00:00:09.000Z',
      working_seconds: 2000,
      tables_seconds: 0.25,
    },
    files: tables.files,
  });
  expect(Object.keys(tables.files)).toHaveLength(7);
});
