import { describe, expect, it } from 'vitest';
import { slurmPlace, SLURM_JOB_DEFAULTS, type SlurmJob } from '../../../contract/terminal/slurmScript.ts';
import { withoutGpus } from './clusterPlan.ts';

function refusal(job: Partial<SlurmJob>, torch: string, bySelf = false): string | undefined {
  const pool = slurmPlace({ ...SLURM_JOB_DEFAULTS, ...job }, { login: null, bySelf });
  if (pool === null) throw new Error('no script');
  return withoutGpus(pool, { packages: { torch } })?.code;
}

describe('a job that asks for GPUs', () => {
  it('is refused before it queues where its tasks would have a PyTorch for processors', () => {
    expect(refusal({}, '2.13.0+cpu')).toBe('device_blocked');
  });

  it.each<[string, Partial<SlurmJob>, string, boolean]>([
    ['PyTorch can use them', {}, '2.13.0', false],
    ['it computes on processors', { gpu: 'none' }, '2.13.0+cpu', false],
    ['its tasks have another Python', { python: '/nodes/python' }, '2.13.0+cpu', false],
    ['somebody submits a script that is not known here', {}, '2.13.0+cpu', true],
  ])('is let through where %s', (_, job, torch, bySelf) => {
    expect(refusal(job, torch, bySelf)).toBeUndefined();
  });
});
