import { expect, it, vi } from 'vitest';
import type { StepProgress } from '../../../contract/rpc/computer.ts';
import { weightsReporter } from './weightDownloads.ts';

it('reports the remaining time of a download by what arrives now, not by earlier downloaded bytes', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const steps: StepProgress[] = [];
  const { onProgress, onNote } = weightsReporter((progress) => steps.push(progress));
  const step = 'Downloading esm2.pt';
  onProgress({ step, done: 4000, total: 10_000 });
  expect(steps.at(-1)).toMatchObject({ fraction: 0.4, remainingSeconds: null });
  vi.setSystemTime(Date.now() + 5000);
  onProgress({ step, done: 6500, total: 10_000 });
  expect(steps.at(-1)).toMatchObject({ remainingSeconds: 7, elapsedSeconds: 5 });
  onNote('The connection broke off. Trying again in 2 s.');
  expect(steps.at(-1)).toMatchObject({
    fraction: 0.65,
    line: 'The connection broke off. Trying again in 2 s.',
  });
  onProgress({ step: 'Converting ESM-2', done: 0, total: null });
  expect(steps.at(-1)).toMatchObject({ stepNumber: 2, stepCount: 2, fraction: null, line: '' });
  vi.useRealTimers();
});
