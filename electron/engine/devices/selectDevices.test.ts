import { describe, expect, it } from 'vitest';
import { unwrap } from '../../contract/errors.ts';
import type { ProbeResult } from '../../contract/protocol/index.ts';
import {
  A100_AND_TURING,
  APPLE,
  EIGHT_H200,
  EIGHT_H200_TWO_VISIBLE,
  H100_IN_MIG_MODE,
  H200_WITHOUT_CUDA,
  MIG_MODE_WITHOUT_SLICES,
  NO_GPU,
  OLD_DRIVER,
  VOLTA_AND_HOPPER,
} from './testing/probeExamples.ts';
import { withCardBlocks } from './probeDevices.ts';
import { coresRemark, leftOutRemark, selectDevices, workersWithParts } from './selectDevices.ts';
import { isOtherGpu, workerEnvironment } from './chosenDevice.ts';

const GIB = 1024 ** 3;
const MEMORY = { sharedBytes: 0, perWorkerBytes: GIB };

const select = (text: string, probe: ProbeResult, memory: Partial<typeof MEMORY> = {}) =>
  unwrap(selectDevices(text, probe, { cpuMemory: { ...MEMORY, ...memory } }));

const chosen = (text: string, probe: ProbeResult, perWorkerBytes = GIB) =>
  select(text, probe, { perWorkerBytes }).map(({ id }) => id);

const leftOut = (text: string, probe: ProbeResult, memory?: Partial<typeof MEMORY>) =>
  leftOutRemark(text, probe, select(text, probe, memory))?.text ?? null;

function refusal(text: string, probe: ProbeResult): { code: string; cause: string } {
  const result = selectDevices(text, probe, { cpuMemory: MEMORY });
  if (result.ok) throw new Error('was not refused');
  return result.error;
}

const uuids = EIGHT_H200.gpus.map((gpu) => gpu.uuid);

describe('auto', () => {
  it('takes every GPU, only visible ones, or other devices if there is none', () => {
    expect(chosen('auto', EIGHT_H200)).toEqual(uuids);
    expect(chosen('auto', EIGHT_H200_TWO_VISIBLE)).toEqual(uuids.slice(2, 4));
    expect(chosen('auto', APPLE)).toEqual(['mps']);
    expect(chosen('auto', NO_GPU)).toEqual(['cpu:0', 'cpu:1', 'cpu:2', 'cpu:3']);
  });

  it('leaves the GPU of a Mac whose memory the model would fill, and says so', () => {
    const big = { sharedBytes: APPLE.cpu.memory_total_bytes };
    expect(select('auto', APPLE, big).every(({ kind }) => kind === 'cpu')).toBe(true);
    expect(leftOut('auto', APPLE, big)).toMatch(/Mac/);
  });

  it('starts the requested number of processor workers if no GPU computes', () => {
    expect(chosen('auto:2', NO_GPU)).toEqual(['cpu:0', 'cpu:1']);
    expect(chosen('auto:2', EIGHT_H200)).toEqual(uuids);
    expect(refusal('auto:0', NO_GPU).code).toBe('usage');
  });

  it('falls back to the processor if CUDA_VISIBLE_DEVICES hides every GPU', () => {
    const hidden = { ...EIGHT_H200, gpus: EIGHT_H200.gpus.map((gpu) => ({ ...gpu, visible: false })) };
    expect(chosen('auto', hidden)[0]).toBe('cpu:0');
  });

  it('leaves out GPUs that the installed PyTorch cannot use, and says why', () => {
    const system = { platform: 'linux', arch: 'x64' } as const;
    const mixed = withCardBlocks(VOLTA_AND_HOPPER, system);
    expect(chosen('auto', mixed)).toEqual(['GPU-eeee-h100']);
    expect(leftOut('auto', mixed)).toMatch(
      /^A GPU is left out\. GPU 0 \(Tesla V100.*compute capability 7\.0\) is not supported by the installed PyTorch/,
    );
    expect(refusal('0', mixed)).toMatchObject({ code: 'device_blocked' });
    const old = withCardBlocks(OLD_DRIVER, system);
    expect(chosen('auto', old)[0]).toBe('cpu:0');
    expect(refusal('0', old).cause).toMatch(/H100.*needs a newer NVIDIA driver/);
  });

  it('reports that the processor computes although there is a GPU', () => {
    expect(leftOut('auto', H200_WITHOUT_CUDA)).toMatch(
      /^The processor computes\. GPU 0 \(NVIDIA H200, .* needs PyTorch for CUDA/,
    );
    expect(leftOut('cpu', H200_WITHOUT_CUDA)).toBeNull();
    for (const probe of [EIGHT_H200, NO_GPU]) expect(leftOut('auto', probe)).toBeNull();
  });

  it('takes slices in place of the GPU they belong to', () => {
    expect(chosen('auto', H100_IN_MIG_MODE)).toEqual(['MIG-11aa-first', 'MIG-11bb-second', 'GPU-77d0-whole']);
  });

  it('starts no more CPU workers than fit in memory, but at least one', () => {
    expect(chosen('auto', NO_GPU, 15 * GIB)).toEqual(['cpu:0', 'cpu:1']);
    expect(chosen('cpu', NO_GPU, 400 * GIB)).toEqual(['cpu:0']);
    expect(select('cpu', NO_GPU, { sharedBytes: 20 * GIB, perWorkerBytes: 10 * GIB })).toHaveLength(2);
  });

  it('starts a worker for every core, not for every hardware thread', () => {
    const cpu = { ...NO_GPU.cpu, logical_cores: 64, physical_cores: 32 };
    expect(chosen('auto', { ...NO_GPU, cpu })).toHaveLength(32);
  });

  it('starts no worker that would get no part, unless the number was given, or GPUs compute', () => {
    const started = (text: string, parts: number, probe = NO_GPU) =>
      workersWithParts(text, select(text, probe), parts).length;
    expect([0, 0.3, 1.1, 500].map((parts) => started('auto', parts))).toEqual([1, 1, 2, 4]);
    expect(started('cpu:3', 0.3)).toBe(3);
    expect(started('auto', 0.3, H100_IN_MIG_MODE)).toBe(3);
  });

  it('reports how many cores compute, and why not all of them', () => {
    const memory = { ...MEMORY, sharedBytes: 10 * GIB };
    const remark = (text: string, cpu: Partial<ProbeResult['cpu']>) => {
      const probe = { ...NO_GPU, cpu: { ...NO_GPU.cpu, ...cpu } };
      return coresRemark(text, probe, select(text, probe, memory), memory)?.wording;
    };
    const little = { memory_available_bytes: 14 * GIB };
    expect(remark('auto', little)).toMatchObject({ values: { workers: 2, cores: 4, free: '15.0' } });
    expect(remark('cpu', { logical_cores: 8 })).toMatchObject({ values: { workers: 4, threads: 8 } });
    expect(remark('auto', {})).toBeUndefined();
    expect(remark('cpu:2', little)).toBeUndefined();
  });
});

describe('named devices', () => {
  it.each([
    ['cpu:3', NO_GPU, ['cpu:0', 'cpu:1', 'cpu:2']],
    ['0,1', EIGHT_H200, uuids.slice(0, 2)],
    [' 3 , 1,3', EIGHT_H200, [uuids[3], uuids[1]]],
    ['cuda:5', EIGHT_H200, [uuids[5]]],
    ['cuda', EIGHT_H200_TWO_VISIBLE, uuids.slice(2, 4)],
    [`${uuids[6]},0`, EIGHT_H200, [uuids[6], uuids[0]]],
    ['gpu-6a1f', EIGHT_H200, [uuids[6]]],
    ['0', H100_IN_MIG_MODE, ['MIG-11aa-first', 'MIG-11bb-second']],
    ['GPU-5c8a-whole', H100_IN_MIG_MODE, ['MIG-11aa-first', 'MIG-11bb-second']],
    ['MIG-11bb', H100_IN_MIG_MODE, ['MIG-11bb-second']],
  ])('%s', (text, probe, expected) => {
    expect(chosen(text, probe)).toEqual(expected);
  });

  it('refuses a hidden GPU by name', () => {
    expect(refusal('0', EIGHT_H200_TWO_VISIBLE)).toMatchObject({
      code: 'device_hidden',
      cause: expect.stringMatching(/GPU 0 \(NVIDIA H200.*CUDA_VISIBLE_DEVICES=2,3 hides it/) as string,
    });
  });

  it('lists the existing devices if a named one does not exist', () => {
    expect(refusal('7', A100_AND_TURING)).toMatchObject({
      code: 'device_unknown',
      cause: expect.stringMatching(/no device "7".*A100.*RTX 2080 Ti.*and cpu/) as string,
    });
    expect(refusal('0', NO_GPU).cause).toContain('No NVIDIA driver is installed.');
    expect(refusal('mps', NO_GPU).code).toBe('device_unknown');
    expect(refusal('0', MIG_MODE_WITHOUT_SLICES).cause).toContain('no slices');
  });

  it.each(['GPU-', 'MIG-11', '0,', '', 'x', '-1', '0 1'])('does not guess what "%s" means', (text) => {
    expect(refusal(text, H100_IN_MIG_MODE).code).toBe('device_unknown');
  });

  it.each(['cpu:0', 'cpu:', 'cpu:x', 'cpu:99999', '0,cpu', 'auto,1'])(
    'refuses "%s" as a usage error',
    (text) => {
      expect(refusal(text, EIGHT_H200).code).toBe('usage');
    },
  );
});

it('pins a worker to its device', () => {
  const [device] = select('2', EIGHT_H200);
  expect(device && workerEnvironment(device)).toEqual({
    CUDA_VISIBLE_DEVICES: uuids[2],
    CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
  });
  const [cpu] = select('cpu:1', EIGHT_H200);
  expect(cpu && workerEnvironment(cpu)).toMatchObject({ CUDA_VISIBLE_DEVICES: '', OMP_NUM_THREADS: '1' });
});

it.each([
  ['GPU-3F2A90B1', 'gpu-3f2a90b1', false],
  ['GPU-3f2a90b1', 'GPU-00000000', true],
  ['MIG-3f2a90b1', 'MIG-00000000', true],
  ['cpu:0', 'GPU-00000000', false],
  ['mps', 'GPU-00000000', false],
])('detects a worker assigned to %s that computes on %s: %s', (meant, found, isOther) => {
  expect(isOtherGpu(meant, found)).toBe(isOther);
});
