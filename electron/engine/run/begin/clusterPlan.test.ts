import { describe, expect, it } from 'vitest';
import { residuesPerPart, TOKENS_PER_BATCH } from '../../../contract/plan.ts';
import type { Precision } from '../../../contract/protocol/index.ts';
import { slurmPlace, SLURM_JOB_DEFAULTS, type SlurmJob } from '../../../contract/terminal/slurmScript.ts';
import { hardwareOf, precisionOf, withoutGpus } from './clusterPlan.ts';

function refusal(job: Partial<SlurmJob>, torch: string): string | undefined {
  const place = slurmPlace({ ...SLURM_JOB_DEFAULTS, ...job }, null);
  if (place === null) throw new Error('no script');
  return withoutGpus(place, { packages: { torch } })?.code;
}

describe('a job that asks for GPUs', () => {
  it('is refused before it queues if its tasks would have a PyTorch for processors', () => {
    expect(refusal({}, '2.13.0+cpu')).toBe('device_blocked');
  });

  it.each<[string, Partial<SlurmJob>, string]>([
    ['PyTorch can use them', {}, '2.13.0'],
    ['it computes on processors', { gpu: 'none' }, '2.13.0+cpu'],
    ['its nodes have a program of their own', { program: '/nodes/virnucpro' }, '2.13.0+cpu'],
  ])('is accepted if %s', (_, job, torch) => {
    expect(refusal(job, torch)).toBeUndefined();
  });
});

describe('the precision of a run that a cluster computes', () => {
  const chosen = (wanted: 'auto' | Precision, plannedFor: 'cpu' | 'gpu') => {
    const precision = precisionOf(wanted, { devices: [], plannedFor });
    return precision.ok ? precision.value : precision.error.code;
  };

  it.each([
    ['cpu', 'auto', 'fp32'],
    ['cpu', 'bf16', 'bf16'],
    ['cpu', 'fp16', 'precision_unsupported'],
    ['cpu', 'fp8', 'precision_unsupported'],
    ['gpu', 'auto', 'bf16'],
    ['gpu', 'fp16', 'fp16'],
    ['gpu', 'fp32', 'fp32'],
    ['gpu', 'fp8', 'precision_unsupported'],
  ] as const)('on a %s, %s: %s', (plannedFor, wanted, expected) => {
    expect(chosen(wanted, plannedFor)).toBe(expected);
  });
});

it('plans smaller batches and parts for an Apple GPU than for others', () => {
  const apple = { kind: 'mps', id: 'mps', name: 'Apple M1 GPU' } as const;
  const hardware = hardwareOf({ devices: [apple], plannedFor: null });
  expect(TOKENS_PER_BATCH[hardware]).toBeLessThan(TOKENS_PER_BATCH.gpu);
  expect(residuesPerPart(hardware, 1e9)).toBeLessThan(residuesPerPart('gpu', 1e9));
});
