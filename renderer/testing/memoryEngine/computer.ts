import {
  appError,
  bytesNamed,
  inSequence,
  message,
  PROTOCOL_VERSION,
  type Calibration,
  type ComputerCheck,
  type DeviceLive,
  countNamed,
  type LastResult,
  type InspectedFile,
  type Judged,
  type ResultOf,
  type Message,
  type ModelStatus,
  type OfflineChoices,
  type OfflineFolder,
  type Precision,
  type ProbeResult,
} from '../../../electron/contract/index.ts';

const GIB = 2 ** 30;

/** Every third GPU is a small one. */
const gpuAt = (index: number) => ({
  index,
  id: `GPU-${String(index).padStart(8, '0')}-0000-4000-8000-000000000000`,
  name: index % 3 === 2 ? 'NVIDIA RTX A6000' : 'NVIDIA H200',
  bytes: (index % 3 === 2 ? 48 : 141) * GIB,
});

export function madeProbe(
  gpus: number,
  failedAt: Readonly<Record<number, readonly Precision[]>> = {},
): ProbeResult {
  return {
    type: 'probe',
    protocol: PROTOCOL_VERSION,
    backend_version: '0.1.0',
    gpus: Array.from({ length: gpus }, (_, index) => {
      const { id, name, bytes } = gpuAt(index);
      const isSmall = index % 3 === 2;
      const precisions: Precision[] = [...(isSmall ? [] : ['fp8' as const]), 'bf16', 'fp16', 'fp32'];
      const failed = failedAt[index] ?? [];
      const problem = 'The results differ by 0.9 from the processor’s; 0.1 is allowed.';
      return {
        ...{ index, uuid: id, name, precisions },
        memory_total_bytes: bytes,
        memory_free_bytes: index === 1 ? 12 * GIB : bytes - 2 * GIB,
        compute_capability: isSmall ? [8, 6] : [9, 0],
        mig_enabled: false,
        parent_uuid: null,
        processes: index === 1 ? [{ pid: 4711, name: 'gromacs', memory_bytes: 128 * GIB }] : [],
        visible: index !== 3,
        ...(failed.length > 0 && { failed: failed.map((precision) => ({ precision, problem })) }),
        blocked_by: failed.length === precisions.length ? 'trial' : null,
      };
    }),
    driver_version: '580.95',
    cuda_driver_version: '13.0',
    cuda_visible_devices: null,
    no_gpu_code: gpus === 0 ? 'driver_missing' : null,
    apple_mps: false,
    cpu: {
      name: 'AMD EPYC 9654',
      logical_cores: 64,
      physical_cores: 32,
      precisions: ['bf16', 'fp32'],
      memory_total_bytes: 512 * GIB,
      memory_available_bytes: 430 * GIB,
    },
  };
}

/** If `nodes` is given, the devices belong to a cluster. */
export function madeDevices(count: number, nodes = 0): DeviceLive[] {
  const each = Math.ceil(count / Math.max(1, nodes));
  return Array.from({ length: count }, (_, index) => ({
    ...{ id: gpuAt(index).id, name: gpuAt(index).name, memoryTotalBytes: gpuAt(index).bytes },
    index: nodes === 0 ? index : index % each,
    place: nodes === 0 ? null : { node: `gpu-node-${1 + Math.floor(index / each)}`, number: index % each },
    worker: { state: 'working', part: String(40 + index).padStart(6, '0') },
    partFraction: (index * 0.13) % 1,
    partsDone: 0,
    residuesDone: 0,
    residuesPerSecond: 41_000,
    framesPerSecond: 245,
    tokensPerBatch: 32_768,
    placement: 'resident',
    utilizationPercent: 97,
    memoryUsedBytes: 23 * GIB,
    temperatureC: 61,
    powerW: 412,
    batchFillPercent: 96.4,
    fragmentedPercent: 6.2,
    memoryGrowthPercent: 0,
  }));
}

export const CALIBRATION: Calibration = {
  calibratedAt: '2026-10-01T08:00:00.000Z',
  chunkLength: 500,
  precision: 'bf16',
  viralFile: 'phages.fa',
  otherFile: 'mouse.fa',
  classes: [
    {
      from: 500,
      viral: { sequences: 200, scored: 180 },
      other: { sequences: 400, scored: 390 },
      thresholds: [
        { threshold: 0.5, viralAbove: 160, otherAbove: 40 },
        { threshold: 0.9, viralAbove: 100, otherAbove: 4 },
      ],
      trustedScores: [],
    },
  ],
};

const DNABERT_S = 'https://huggingface.co/zhihan1996/DNABERT-S';
const ORIGINS = (
  [
    [
      'esm2',
      5_678_116_398,
      'https://github.com/facebookresearch/esm',
      'MIT',
      'Lin et al. (2023). Science 379',
    ],
    ['dnabert_s', 468_320_053, DNABERT_S, 'Apache-2.0', 'Zhou et al. (2025). Bioinformatics 41'],
    ['tokenizer', 168_203, DNABERT_S, 'Apache-2.0', 'Zhou et al. (2025). Bioinformatics 41'],
    ['head', 6_850_000, 'https://github.com/Li-Jing-1997/VirNucPro', null, 'Li et al. (2025). VirNucPro'],
  ] as const
).map(([role, sizeBytes, source, license, citation]) => ({ role, sizeBytes, source, license, citation }));

function madeModel(given: Pick<ModelStatus, 'id' | 'title' | 'kind'> & Partial<ModelStatus>): ModelStatus {
  const folder = given.folder ?? `/data/weights/${given.id}`;
  const present = given.present ?? true;
  return {
    notice: null,
    chunkLength: 500,
    present,
    downloadBytes: null,
    fetchedBytes: 0,
    problem: null,
    folder,
    sizeBytes: present ? 6_150_000_000 : null,
    freesBytes: 0,
    sharedWith: [],
    files: ORIGINS.map((origin) => ({
      ...origin,
      path: present ? `${folder}/${origin.role}.safetensors` : null,
    })),
    ...given,
  };
}

export const MODELS: ModelStatus[] = [
  madeModel({
    id: '500',
    title: 'VirNucPro, 500-bp model',
    kind: 'published',
    freesBytes: 7_000_000,
    sharedWith: ['Gut phages'],
  }),
  madeModel({
    id: '300',
    title: 'VirNucPro, 300-bp model',
    kind: 'published',
    chunkLength: 300,
    present: false,
    downloadBytes: 7_000_000,
  }),
  madeModel({
    id: '/data/weights/Gut phages',
    title: 'Gut phages',
    kind: 'imported',
    freesBytes: 7_000_000,
    sharedWith: ['VirNucPro, 500-bp model'],
    folder: '/data/weights/Gut phages',
    files: ORIGINS.map(({ role, sizeBytes }) => ({
      ...{ role, sizeBytes, path: `/data/weights/Gut phages/${role}` },
      ...{ source: null, license: null, citation: null },
    })),
  }),
  madeModel({
    id: 'teaching',
    title: 'Teaching model',
    kind: 'teaching',
    notice: 'Random weights, no biological meaning. For trying out the program.',
    sizeBytes: 4_100_000,
    folder: '/app/resources/teaching-model',
  }),
];

const texts = (...messages: Message[]) => inSequence(messages);
const sized = (gigabytes: number) => bytesNamed(gigabytes * 1e9, `${gigabytes} GB`);

const check = (
  [id, title, status]: [ComputerCheck['id'], string, ComputerCheck['status']],
  sentences: Message[],
  action: ComputerCheck['action'] = null,
): ComputerCheck => ({ id, title, status, ...texts(...sentences), action });

export const CHECKS: ComputerCheck[] = [
  check(
    ['gpus', 'GPUs', 'good'],
    [
      message('check.driver.nvidia', { version: '580.95' }),
      message('check.gpu', { name: 'NVIDIA H200', free: sized(149) }),
      message('check.gpu', { name: 'NVIDIA RTX A6000', free: sized(49) }),
    ],
  ),
  check(['memory', 'Memory', 'good'], [message('check.memory', { free: sized(430), total: sized(512) })]),
  check(
    ['disk', 'Disk space', 'warning'],
    [message('check.disk.little', { free: sized(21), needed: sized(25) })],
    { label: 'Check again', kind: 'check_again' },
  ),
  check(['python', 'Python environment', 'bad'], [message('python.changed', { names: 'torch' })], {
    label: 'Repair',
    kind: 'repair_python',
  }),
  check(
    ['computing', 'Test computation', 'good'],
    [message('check.computing.right', { device: 'NVIDIA H200', precisions: 'BF16, FP16, FP32' })],
  ),
  check(
    ['weights', 'Model weights', 'good'],
    [message('check.weights', { models: 'VirNucPro, 500-bp model, Gut phages' })],
  ),
];

/** The result depends only on the file's name: a name with `bad`, `protein` or `dup` makes it a bad example. */
export function madeInspection(path: string): InspectedFile {
  const name = path.split('/').at(-1) ?? path;
  const isBad = /bad|truncated/.test(name);
  const hasDuplicates = /dup|sample_A/.test(name);
  const sequences = isBad ? 0 : 27_734;
  const problem = (when: boolean, code: InspectedFile['problems'][number]['code'], count: number) =>
    when ? [{ code, values: {}, count, examples: [] }] : [];
  return {
    type: 'inspected',
    path,
    size_bytes: 18_400_000,
    sha256: Array.from(name)
      .reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 2 ** 31, 7)
      .toString(16)
      .padStart(64, '0'),
    format: isBad ? 'unknown' : 'fasta',
    compression: name.endsWith('.gz') ? 'gzip' : 'none',
    sequences,
    bases: sequences * 640,
    min_length: isBad ? 0 : 61,
    median_length: isBad ? 0 : name.includes('reads_') ? 150 : 540,
    max_length: isBad ? 0 : 18_422,
    bytes: { used: 18_400_000, damaged: 0, left_out: 0, passed_over: 0 },
    empty: hasDuplicates ? 3 : 0,
    invalid_characters: 0,
    malformed: 0,
    duplicate_ids: hasDuplicates ? 12 : 0,
    duplicate_headers: 0,
    name_marks: { step: 2 ** 32, marks: '00000000' },
    ambiguous_fraction: 0.0008,
    judged: {
      '500': madeJudged(sequences, 500, 0.93, name.includes('reads_') ? sequences : 12_392),
      '300': madeJudged(sequences, 300, 0.96, name.includes('reads_') ? sequences : 2592),
      '500+300': madeJudged(sequences, 500, 0.96, name.includes('reads_') ? sequences : 2592),
    },
    problems: [
      ...problem(isBad, 'input_truncated', 1),
      ...problem(/protein/.test(name), 'looks_like_protein', 1),
      ...problem(hasDuplicates, 'duplicate_ids', 12),
      ...problem(hasDuplicates, 'empty', 3),
    ],
  };
}

/** `share`: of the sequences, that have an open frame. */
const madeJudged = (sequences: number, chunkLength: number, share: number, shorter: number): Judged => ({
  sequences: Math.round(share * sequences),
  bases: Math.round(share * sequences * 640),
  shorter,
  chunks: Math.round((sequences * 900) / chunkLength),
  frames: Math.round((sequences * 1200) / chunkLength),
  residues: sequences * 400,
});

const madeResult = (sentences: Message[]) => ({
  device: { id: 'GPU-0', kind: 'cuda' as const, name: 'NVIDIA H200' },
  checkedAt: '2026-11-20T09:30:00.000Z',
  seconds: 12,
  driver: '580.95',
  pytorch: '2.9.1',
  outdated: null,
  precision: 'bf16' as const,
  verdict: 'works' as const,
  problem: null,
  ...texts(...sentences),
});

export function madeControls(model: string): LastResult {
  type Group = NonNullable<ResultOf<'controls'>['figures']>['groups'][number]['group'];
  const group = (name: Group, called: number, sequences: number) => ({
    ...{ group: name, sequences, scored: sequences, called_virus: called },
  });
  return {
    ...madeResult([
      message('check.controls.called', { viral: 97, virals: 100, host: 16, hosts: 100 }),
      message('check.controls.others', { phage: 20, phages: 20, shuffled: 12, shuffles: 40 }),
    ]),
    check: 'controls',
    model,
    figures: {
      panel: { file: '500.fa', sha256: 'c'.repeat(64), quick: false },
      groups: [
        group('viral', 97, 100),
        group('host', 16, 100),
        group('crassphage', 20, 20),
        group('shuffled', 12, 40),
      ],
      auroc: 0.95,
      differences: {},
    },
  };
}

export function madeSpeed(): LastResult[] {
  const row = {
    tokens_per_batch: 24_528,
    esm2_residues_per_second: 106_990,
    dnabert_s_frames_per_second: 19_064,
    products_residues_per_second: 117_056,
  };
  const speed = message('check.speed.works', {
    residues: countNamed(106_990),
    share: 91,
    frames: countNamed(19_064),
  });
  return [
    { ...madeResult([speed]), check: 'speed', model: null, figures: { rows: [row] } },
    {
      ...madeResult([message('check.computing.no_answer')]),
      ...{ check: 'speed', model: null, figures: null, verdict: 'no_answer', precision: 'fp32' },
      device: { id: 'cpu:0', kind: 'cpu', name: 'CPU' },
    },
  ];
}

export const PACKABLE_GPUS: OfflineChoices['gpus'] = [
  { gpu: 'nvidia', downloadBytes: 2_775_000_000 },
  { gpu: 'nvidia_older', downloadBytes: 2_910_000_000 },
  { gpu: 'none', downloadBytes: 245_000_000 },
];

/** Depends on its name: a folder that was packed, one for another computer, or any other folder. */
export function madeOfflineFolder(folder: string): OfflineFolder {
  if (folder.includes('windows'))
    return {
      state: 'unusable',
      error: appError(
        'offline_folder_unusable',
        message('offline.platform', { platform: 'win32-x64', here: 'linux-x64' }),
        { nextStep: message('offline.platform.next', { here: 'linux-x64' }) },
      ),
    };
  if (!folder.includes('offline')) return { state: 'other' };
  return {
    state: 'usable',
    bytes: 9_140_000_000,
    packedPython: '3.12',
    torchBuild: 'cu130',
    models: ['VirNucPro, 500-bp model'],
  };
}
