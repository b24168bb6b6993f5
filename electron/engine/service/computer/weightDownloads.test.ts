import { expect, it } from 'vitest';
import type { StepProgress } from '../../../contract/rpc/computer.ts';
import { weightsReporter } from './weightDownloads.ts';

it('reports the speed and remaining time of a download, without earlier downloaded bytes', () => {
  const steps: StepProgress[] = [];
  let now = 0;
  const { onProgress, onNote } = weightsReporter(
    (progress) => steps.push(progress),
    () => now,
  );
  const step = 'Downloading esm2.pt';
  onProgress({ step, done: 4000, total: 10_000 });
  expect(steps.at(-1)).toMatchObject({ fraction: 0.4, bytesPerSecond: null, remainingSeconds: null });
  now = 2000;
  onProgress({ step, done: 5000, total: 10_000 });
  now = 4000;
  onProgress({ step, done: 6000, total: 10_000 });
  expect(steps.at(-1)).toMatchObject({ bytesPerSecond: 500, remainingSeconds: 8, elapsedSeconds: 4 });
  onNote('The connection broke off. Trying again in 2 s.');
  expect(steps.at(-1)).toMatchObject({
    fraction: 0.6,
    line: 'The connection broke off. Trying again in 2 s.',
    bytesPerSecond: null,
    remainingSeconds: null,
  });
  onProgress({ step: 'Converting ESM-2', done: 0, total: null });
  expect(steps.at(-1)).toMatchObject({ stepNumber: 2, fraction: null, bytesPerSecond: null });
});
