import { describe, expect, it } from 'vitest';
import type { Precision, ProbeResult } from '../../contract/protocol/index.ts';
import { unwrap } from '../../contract/errors.ts';
import { choosePrecision, oldGpusRemark, precisionRemark, withoutOldGpus } from './choosePrecision.ts';
import { A100_AND_TURING, APPLE, EIGHT_H200, NO_GPU, PASCAL } from './testing/probeExamples.ts';
import { selectDevices } from './selectDevices.ts';

const selected = (devices: string, probe: ProbeResult) =>
  unwrap(selectDevices(devices, probe, { cpuMemory: { sharedBytes: 0, perWorkerBytes: 1024 ** 3 } }));

const precision = (request: 'auto' | Precision, devices: string, probe: ProbeResult) =>
  choosePrecision(request, selected(devices, probe));

const WITH_PASCAL: ProbeResult = {
  ...A100_AND_TURING,
  gpus: [...A100_AND_TURING.gpus, ...PASCAL.gpus.map((gpu) => ({ ...gpu, index: 2 }))],
};

describe('auto', () => {
  it.each([
    ['every GPU 8.0 or more', 'auto', EIGHT_H200, 'bf16'],
    ['the weaker of two decides', 'auto', A100_AND_TURING, 'fp16'],
    ['only the selected ones count', '0', A100_AND_TURING, 'bf16'],
    ['older than 7.0', 'auto', PASCAL, 'fp32'],
    ['Apple', 'auto', APPLE, 'fp16'],
    ['processor', 'cpu', NO_GPU, 'fp32'],
  ])('%s', (_, devices, probe, expected) => {
    expect(precision('auto', devices, probe)).toEqual({ ok: true, value: expected });
  });
});

describe('GPUs of several models', () => {
  const remark = (devices: string, probe: ProbeResult): string | null =>
    precisionRemark(unwrap(precision('auto', devices, probe)), selected(devices, probe))?.text ?? null;

  it('says nothing of the processor where the devices are not known yet', () => {
    expect(precisionRemark('bf16', [])).toBeNull();
  });

  it('names the one that decides for all', () => {
    expect(remark('auto', A100_AND_TURING)).toBe(
      'GPU 1 (NVIDIA GeForce RTX 2080 Ti, compute capability 7.5) cannot compute in BF16, ' +
        'so all devices of this run compute in FP16.',
    );
    expect(remark('auto', WITH_PASCAL)).toMatch(/compute in FP32\..*leaving this one out may be faster/);
  });

  it('says nothing if all have the same abilities', () => {
    for (const probe of [EIGHT_H200, PASCAL, APPLE]) expect(remark('auto', probe)).toBeNull();
    expect(remark('0', A100_AND_TURING)).toBeNull();
    expect(remark('cpu', NO_GPU)).toBeNull();
  });
});

describe('a GPU that only suits FP32, beside faster ones', () => {
  const indices = (request: 'auto' | Precision, probe: ProbeResult) => {
    const { devices, old } = withoutOldGpus(request, selected('auto', probe));
    const numbers = (chosen: typeof devices) =>
      chosen.map((device) => ('index' in device ? device.index : -1));
    return { taken: numbers(devices), left: numbers(old), remark: oldGpusRemark(old)?.text ?? null };
  };

  it.each([
    ['auto', [0, 1], [2]],
    ['bf16', [0, 1], [2]],
    ['fp32', [0, 1, 2], []],
  ] as const)('is left out and named, unless the run computes in FP32 anyway: %s', (request, taken, left) => {
    expect(indices(request, WITH_PASCAL)).toEqual({
      taken,
      left,
      remark: left.length === 0 ? null : (expect.stringContaining('GTX 1080') as string),
    });
  });

  it('computes if there is no faster one', () => {
    expect(indices('auto', PASCAL)).toEqual({ taken: [0], left: [], remark: null });
    expect(indices('auto', APPLE)).toEqual({ taken: [-1], left: [], remark: null });
    expect(indices('auto', NO_GPU).left).toEqual([]);
  });
});

describe('a requested precision', () => {
  it('is used if every device supports it', () => {
    expect(precision('fp8', 'auto', EIGHT_H200)).toEqual({ ok: true, value: 'fp8' });
    expect(precision('fp16', '1', A100_AND_TURING)).toEqual({ ok: true, value: 'fp16' });
    expect(precision('fp32', 'auto', A100_AND_TURING)).toEqual({ ok: true, value: 'fp32' });
  });

  it.each([
    [
      'bf16',
      'auto',
      A100_AND_TURING,
      /GPU 1 \(NVIDIA GeForce RTX 2080 Ti, compute capability 7\.5\).*fp16, fp32/,
    ],
    ['fp8', '0', A100_AND_TURING, /GPU 0 \(NVIDIA A100/],
    ['fp16', 'auto', PASCAL, /GTX 1080, compute capability 6\.1\) cannot compute in fp16; it can do fp32\./],
    ['fp16', 'cpu', NO_GPU, /The processor cannot compute in fp16; it can do fp32/],
    ['bf16', 'mps', APPLE, /The Apple GPU/],
  ] as const)(
    '%s is refused with the name of the device that does not support it',
    (request, devices, probe, cause) => {
      const refused = precision(request, devices, probe);
      expect(refused).toMatchObject({
        ok: false,
        error: { code: 'precision_unsupported', cause: expect.stringMatching(cause) as string },
      });
    },
  );
});
