import { describe, expect, it } from 'vitest';
import type { ProbeResult } from '../../contract/protocol/index.ts';
import { appError, err, ok } from '../../contract/errors.ts';
import {
  A100_AND_TURING,
  APPLE,
  EIGHT_H200,
  H200_WITHOUT_CUDA,
  NO_GPU,
  PASCAL,
} from './testing/probeExamples.ts';
import { inSequence, message } from '../../contract/messages.ts';
import type { Trial } from './check/trial.ts';
import { computerChecks } from './computerChecks.ts';

function gpus(probe: ProbeResult) {
  const environment = ok({ interpreter: '', own: true, pythonVersion: '3.12', packages: {}, source: '' });
  const checks = computerChecks({ environment, probe: ok(probe), models: null, diskFreeBytes: null });
  return checks.find(({ id }) => id === 'gpus');
}

/** The same computer with this many GB free on its GPUs. */
function withFree(probe: ProbeResult, gigabytes: number): ProbeResult {
  return { ...probe, gpus: probe.gpus.map((gpu) => ({ ...gpu, memory_free_bytes: gigabytes * 1e9 })) };
}

describe('the card of the GPUs', () => {
  it('says nothing if there is no problem', () => {
    expect(gpus(EIGHT_H200)).toMatchObject({ status: 'good' });
  });

  it.each([
    ['little memory', withFree(EIGHT_H200, 5.5), /NVIDIA H200 .*main memory/],
    ['far too little', withFree(EIGHT_H200, 1.5), /a GPU is too small/],
    ['Turing', A100_AND_TURING, /RTX 2080 Ti has no BF16: runs that it takes part in compute in FP16/],
    ['Pascal', PASCAL, /GTX 1080 computes in FP32 only/],
    ['Apple', APPLE, /An Apple GPU\. This program was never tested on one/],
    ['none', NO_GPU, /No GPU can be used/],
  ])('%s', (_, probe, sentence) => {
    expect(gpus(probe)).toMatchObject({
      status: 'warning',
      sentence: expect.stringMatching(sentence) as string,
    });
  });

  it('offers to repair an environment whose PyTorch does not support the GPUs', () => {
    expect(gpus(H200_WITHOUT_CUDA)).toMatchObject({
      sentence: expect.stringMatching(/H200 needs PyTorch for CUDA; .*virnucpro doctor --repair/) as string,
      action: { kind: 'repair_python' },
    });
  });

  it('waits until Python is set up, like everything that needs Python', () => {
    const nothing = { probe: null, models: null, diskFreeBytes: 1e12 };
    const missing = err(appError('python_broken', 'It cannot be started.'));
    const fresh = computerChecks({ ...nothing, environment: missing, neverSetUp: true });
    expect(fresh.map(({ id, status, action }) => [id, status, action?.kind])).toEqual([
      ['gpus', 'waiting', undefined],
      ['memory', 'waiting', undefined],
      ['disk', 'good', undefined],
      ['python', 'bad', 'set_up_python'],
      ['computing', 'waiting', undefined],
      ['weights', 'waiting', undefined],
    ]);
    const broken = computerChecks({ ...nothing, environment: missing });
    expect(broken.find(({ id }) => id === 'python')).toMatchObject({
      sentence: 'It cannot be started.',
      action: { kind: 'repair_python' },
    });
  });

  it.each([
    ['eight', EIGHT_H200],
    ['none', NO_GPU],
    ['Pascal', PASCAL],
    ['Apple', APPLE],
  ])('gives windows a message key for every sentence: %s', (_, probe) => {
    const value = { interpreter: '', own: true, pythonVersion: '3.12', packages: {}, source: '' };
    const differs = message('check.computing.differs', { difference: 0.9, allowed: 0.1 });
    const devices: Trial[] = [
      {
        ...{ check: 'devices', model: null, device: { id: 'cpu:0', kind: 'cpu', name: 'EPYC' } },
        ...{ checkedAt: '', seconds: 1, driver: null, pytorch: null, precision: 'fp32', verdict: 'differs' },
        ...{ figures: null, problem: null, ...inSequence([differs]) },
      },
    ];
    const facts = { environment: ok(value), probe: ok(probe), models: ok([]), diskFreeBytes: 1e9, devices };
    for (const { id, wordings } of [...computerChecks(facts), ...computerChecks({ ...facts, devices: null })])
      expect({ id, count: wordings.length }).not.toEqual({ id, count: 0 });
  });
});
