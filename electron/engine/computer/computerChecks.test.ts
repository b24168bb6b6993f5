import { describe, expect, it } from 'vitest';
import type { ProbeResult } from '../../contract/protocol/index.ts';
import { ok } from '../../contract/result.ts';
import { A100_AND_TURING, APPLE, EIGHT_H200, NO_GPU, PASCAL } from '../devices/probeExamples.ts';
import { computerChecks } from './computerChecks.ts';

function gpus(probe: ProbeResult) {
  const environment = ok({ interpreter: '', own: true, pythonVersion: '3.12', packages: {}, source: '' });
  const checks = computerChecks({ environment, probe: ok(probe), models: null, diskFreeBytes: null });
  return checks.find(({ id }) => id === 'gpus');
}

/** The same computer with so many GB free on its GPUs. */
function withFree(probe: ProbeResult, gigabytes: number): ProbeResult {
  return { ...probe, gpus: probe.gpus.map((gpu) => ({ ...gpu, memory_free_bytes: gigabytes * 1e9 })) };
}

describe('the card of the GPUs', () => {
  it('says nothing where all is well', () => {
    expect(gpus(EIGHT_H200)).toMatchObject({ status: 'good' });
  });

  it.each([
    [
      'little memory',
      withFree(EIGHT_H200, 5.5),
      /come from main memory one after the other: the results are the same/,
    ],
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
});
