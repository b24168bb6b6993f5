import { expect, it } from 'vitest';
import { createTexts } from '../../i18n/index.ts';
import { madeRun } from '../../testing/memoryEngine/runs.ts';
import { sortedRuns } from './sortedRuns.ts';

const run = (name: string, hoursAgo: number, viralSequences: number | null) =>
  madeRun(
    { runId: crypto.randomUUID(), name, state: { phase: 'created' }, hoursAgo, more: { viralSequences } },
    1_000_000_000_000,
  );
const runs = [run('run 10', 3, 5), run('Run 9', 1, null), run('run 2', 2, 40)];
const names = (id: string, desc: boolean) =>
  sortedRuns(runs, { id, desc }, createTexts('en')).map(({ name }) => name);

it('sorts names as people count', () => {
  expect(names('name', false)).toEqual(['run 2', 'Run 9', 'run 10']);
});

it('puts what has no value last, whichever way', () => {
  expect(names('viral', false)).toEqual(['run 10', 'run 2', 'Run 9']);
  expect(names('viral', true)).toEqual(['run 2', 'run 10', 'Run 9']);
});

it('takes no number of viral sequences from a run with the demo model', () => {
  const demo = madeRun(
    {
      runId: crypto.randomUUID(),
      name: 'demo',
      state: { phase: 'created' },
      demo: true,
      more: { viralSequences: 9 },
    },
    1_000_000_000_000,
  );
  const sorted = sortedRuns([demo, ...runs], { id: 'viral', desc: true }, createTexts('en'));
  expect(sorted.map(({ name }) => name).slice(0, 2)).toEqual(['run 2', 'run 10']);
});

it('shows the newest first unless told otherwise', () => {
  expect(sortedRuns(runs, undefined, createTexts('en')).map(({ name }) => name)).toEqual([
    'Run 9',
    'run 2',
    'run 10',
  ]);
});
