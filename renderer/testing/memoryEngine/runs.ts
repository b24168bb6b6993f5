import {
  appError,
  runRequestSchema,
  sampleNames,
  type RunSummary,
} from '../../../electron/contract/index.ts';
import { syntheticPlan } from '../../../electron/engine/store/testing/syntheticRun.ts';

export const RUN_IDS = {
  running: '11111111-1111-4111-8111-111111111111',
  queuedFirst: '22222222-2222-4222-8222-222222222222',
  queuedSecond: '33333333-3333-4333-8333-333333333333',
  interrupted: '44444444-4444-4444-8444-444444444444',
  withFailures: '55555555-5555-4555-8555-555555555555',
  done: '66666666-6666-4666-8666-666666666666',
  teaching: '77777777-7777-4777-8777-777777777777',
  halted: '88888888-8888-4888-8888-888888888888',
  failed: '99999999-9999-4999-8999-999999999999',
  cancelled: 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa',
  preparing: 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb',
  samples: 'cccccccc-cccc-4ccc-8ccc-cccccccccccc',
} as const;

export const NOTHING_FAILED = { phase: 'done', failedParts: 0, failedRecords: 0 } as const;
const TEACHING_NOTICE = 'teaching model, not for research';

interface RunOptions {
  runId: string;
  name: string;
  state: RunSummary['state'];
  inputs?: readonly string[];
  teaching?: boolean;
  hoursAgo?: number;
  more?: Partial<RunSummary>;
}

export function madeRun(options: RunOptions, now: number): RunSummary {
  const inputs = options.inputs ?? ['contigs.fasta'];
  const created = now - (options.hoursAgo ?? 1) * 3_600_000;
  const ended = options.state.phase === 'done';
  const paths = inputs.map((input) => `/data/projects/soil-2026/${input}`);
  return {
    runId: options.runId,
    folder: `/data/results/${options.name.toLowerCase().replace(/\W+/g, '_')}_predictions`,
    name: options.name,
    state: options.state,
    interrupted: false,
    missing: false,
    createdAt: new Date(created).toISOString(),
    finishedAt: ended ? new Date(created + 2_520_000).toISOString() : null,
    plan: {
      ...syntheticPlan(paths.length),
      inputs: paths.map((path, index) => ({
        path,
        sizeBytes: 48_000_000 + index * 3_100_000,
        sha256: '0'.repeat(64),
      })),
      model: {
        name: options.teaching ? 'teaching' : '500',
        title: options.teaching ? 'Teaching model' : 'VirNucPro, 500-bp model',
        hash: '9'.repeat(64),
        folder: '/data/models/500',
        notice: options.teaching ? TEACHING_NOTICE : null,
        normBands: { esm2: [12, 16], dnabert_s: [2, 5] },
      },
      precision: options.teaching ? 'fp32' : 'bf16',
      tokensPerBatch: 32_768,
      order: 'sample',
    },
    request: runRequestSchema.parse({ inputs: paths, model: options.teaching ? 'teaching' : '500' }),
    goal: null,
    queuePosition: null,
    controls: options.teaching ? null : [],
    starting: false,
    computingSeconds: ended ? 2520 : null,
    fraction: ended ? 1 : null,
    sequences: null,
    viralSequences: null,
    otherSequences: null,
    samples: sampleNames(paths),
    tags: [],
    note: '',
    ...options.more,
  };
}

/** Twenty samples with two files each. */
const PAIRS = Array.from({ length: 20 }, (_, index) => `gut_${String(index + 1).padStart(2, '0')}`).flatMap(
  (sample) => [`${sample}_R1.fastq.gz`, `${sample}_R2.fastq.gz`],
);

const INPUTS = ['sample_A.fasta.gz', 'sample_B.fasta.gz', 'sample_C.fasta.gz', 'control.fna'];

const INVENTED: readonly (Omit<RunOptions, 'runId'> & { id: keyof typeof RUN_IDS })[] = [
  {
    id: 'running',
    name: 'Soil metagenome, plots A to C',
    state: { phase: 'running' },
    inputs: INPUTS,
    hoursAgo: 0.6,
    more: { fraction: 0.42 },
  },
  {
    id: 'queuedFirst',
    name: 'River sediment, March',
    state: { phase: 'created' },
    hoursAgo: 0.4,
    more: { queuePosition: 0 },
  },
  {
    id: 'queuedSecond',
    name: 'Waste water, weekly',
    state: { phase: 'created' },
    inputs: INPUTS.slice(0, 2),
    hoursAgo: 0.2,
    more: { queuePosition: 1 },
  },
  {
    id: 'samples',
    name: 'Gut, twenty patients',
    state: { phase: 'created' },
    inputs: PAIRS,
    hoursAgo: 0.1,
    more: { queuePosition: 2 },
  },
  {
    id: 'preparing',
    name: 'Spring water',
    state: { phase: 'created' },
    hoursAgo: 0.05,
    more: { starting: true },
  },
  {
    id: 'failed',
    name: 'Glacier melt, truncated copy',
    state: {
      phase: 'failed',
      error: appError('input_truncated', 'contigs.fasta ends too early: the compressed data are cut off.'),
    },
    hoursAgo: 26,
  },
  { id: 'cancelled', name: 'Hot spring, wrong model', state: { phase: 'cancelled' }, hoursAgo: 28 },
  {
    id: 'interrupted',
    name: 'Bat guano 2025',
    state: { phase: 'running' },
    hoursAgo: 20,
    more: { interrupted: true, fraction: 0.63 },
  },
  {
    id: 'withFailures',
    name: 'Sea water, depth profile',
    state: { phase: 'done', failedInputs: 1, failedParts: 3, failedRecords: 192 },
    inputs: INPUTS,
    hoursAgo: 50,
  },
  {
    id: 'done',
    name: 'Lake plankton',
    state: NOTHING_FAILED,
    inputs: INPUTS,
    hoursAgo: 75,
    more: { tags: ['lake', '2025'], note: 'Second extraction; compare with the river samples.' },
  },
  {
    id: 'teaching',
    name: 'Example',
    state: NOTHING_FAILED,
    inputs: ['example.fasta'],
    teaching: true,
    hoursAgo: 99,
  },
  {
    id: 'halted',
    name: 'Permafrost core 7',
    state: {
      phase: 'paused',
      error: appError('disk_full', 'There is no room left on the disk of the results folder.'),
    },
    hoursAgo: 30,
    more: { fraction: 0.31 },
  },
];

/** `samples`: of the finished run, with a file each. */
export const madeRuns = (now: number, samples = 0): RunSummary[] =>
  INVENTED.map(({ id, ...run }) => {
    const sites = Array.from({ length: id === 'done' ? samples : 0 }, (_, site) => `site${site + 1}.fasta`);
    return madeRun({ runId: RUN_IDS[id], ...run, ...(sites.length > 0 && { inputs: sites }) }, now);
  });

export function madeRunNamed(name: keyof typeof RUN_IDS): RunSummary {
  const found = madeRuns(Date.now()).find(({ runId }) => runId === RUN_IDS[name]);
  if (!found) throw new Error(`No run is ${name}`);
  return found;
}
