import { expect, it } from 'vitest';
import type { AppError } from '../../../contract/errors.ts';
import { lacksResults, resumeCommand } from './followRun.ts';

it('reports missing result files as an error, even with -q', () => {
  const errors: AppError[] = [];
  const reporter = { error: (error: AppError) => errors.push(error) };
  expect(lacksResults({ missingResults: [] }, reporter)).toBe(false);
  expect(errors).toEqual([]);
  expect(lacksResults({ missingResults: ['viral_sequences.fna', 'run.json'] }, reporter)).toBe(true);
  expect(errors).toMatchObject([
    { code: 'results_missing', cause: 'Could not be written: viral_sequences.fna, run.json.' },
  ]);
});

it('tells how to resume with a corrected batch script after SLURM refused the first one', () => {
  const script = '#!/bin/sh\n';
  const slurm = { kind: 'slurm', script, shares: 2, on_processors: true } as const;
  expect(resumeCommand('/run', { code: 'cluster_failed' }, slurm)).toContain('resume /run --slurm ');
  const others = [
    resumeCommand('/run', { code: 'disk_full' }, slurm),
    resumeCommand('/run', { code: 'cluster_failed' }, { kind: 'this_computer' }),
  ];
  expect(others).toEqual(['virnucpro resume /run', 'virnucpro resume /run']);
});
