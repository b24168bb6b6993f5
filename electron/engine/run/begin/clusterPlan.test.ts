import { describe, expect, it } from 'vitest';
import { slurmPlace, SLURM_JOB_DEFAULTS, type SlurmJob } from '../../../contract/terminal/slurmScript.ts';
import { withoutGpus } from './clusterPlan.ts';

function refusal(job: Partial<SlurmJob>, torch: string): string | undefined {
  const place = slurmPlace({ ...SLURM_JOB_DEFAULTS, ...job }, null);
  if (place === null) throw new Error('no script');
  return withoutGpus(place, { packages: { torch } })?.code;
}

describe('a job that asks for GPUs', () => {
  it('is refused before it queues where its tasks would have a PyTorch for processors', () => {
    expect(refusal({}, '2.13.0+cpu')).toBe('device_blocked');
  });

  it.each<[string, Partial<SlurmJob>, string]>([
    ['PyTorch can use them', {}, '2.13.0'],
    ['it computes on processors', { gpu: 'none' }, '2.13.0+cpu'],
    ['its nodes have a program of their own', { program: '/nodes/virnucpro' }, '2.13.0+cpu'],
  ])('is let through where %s', (_, job, torch) => {
    expect(refusal(job, torch)).toBeUndefined();
  });
});
