import { describe, expect, it } from 'vitest';
import { createTexts } from '../../i18n/index.ts';
import { madeRun, madeRuns } from '../../testing/memoryEngine/runs.ts';
import { runsInGroups, runsMatching, sortedRuns } from './runsShown.ts';

const run = (name: string, hoursAgo: number, viralSequences: number | null) =>
  madeRun(
    { runId: crypto.randomUUID(), name, state: { phase: 'created' }, hoursAgo, more: { viralSequences } },
    1_000_000_000_000,
  );
const runs = [run('run 10', 3, 5), run('Run 9', 1, null), run('run 2', 2, 40)];
const names = (id: string, desc: boolean) =>
  sortedRuns(runs, { id, desc }, createTexts('en')).map(({ name }) => name);

it('sorts names in natural order', () => {
  expect(names('name', false)).toEqual(['run 2', 'Run 9', 'run 10']);
});

it('puts runs without a value last, in either direction', () => {
  expect(names('calls', false)).toEqual(['run 10', 'run 2', 'Run 9']);
  expect(names('calls', true)).toEqual(['run 2', 'run 10', 'Run 9']);
});

it('shows no number of viral sequences for a run with the teaching model', () => {
  const teaching = madeRun(
    {
      runId: crypto.randomUUID(),
      name: 'teaching',
      state: { phase: 'created' },
      teaching: true,
      more: { viralSequences: 9 },
    },
    1_000_000_000_000,
  );
  const sorted = sortedRuns([teaching, ...runs], { id: 'calls', desc: true }, createTexts('en'));
  expect(sorted.map(({ name }) => name).slice(0, 2)).toEqual(['run 2', 'run 10']);
});

it('shows the newest first unless another order is chosen', () => {
  expect(sortedRuns(runs, undefined, createTexts('en')).map(({ name }) => name)).toEqual([
    'Run 9',
    'run 2',
    'run 10',
  ]);
});

const madeToday = madeRuns(Date.parse('2026-11-01T12:00:00Z'));

it('puts runs at work or waiting first, in the order in which they start, then those that can be resumed, then those that are done', () => {
  const groups = runsInGroups(madeToday, { id: 'name', desc: false }, createTexts('en'));
  expect(groups.map(({ group, runs: some }) => [group, ...some.map(({ name }) => name)])).toEqual([
    [
      'now',
      'Soil metagenome, plots A to C',
      'Spring water',
      'River sediment, March',
      'Waste water, weekly',
      'Gut, twenty patients',
    ],
    [
      'canGoOn',
      'Bat guano 2025',
      'Glacier melt, truncated copy',
      'Hot spring, wrong model',
      'Permafrost core 7',
    ],
    ['finished', 'Example', 'Lake plankton', 'Sea water, depth profile'],
  ]);
});

describe('searching runs', () => {
  it('puts the newest first', () => {
    const times = runsMatching(madeToday, '').map((run) => run.createdAt);
    expect(times).toEqual(times.toSorted().reverse());
    expect(times).toHaveLength(madeToday.length);
  });

  it('requires every word in the name, the folder, the model, a file, a sample, a tag or the note', () => {
    expect(runsMatching(madeToday, 'LAKE').map((run) => run.name)).toEqual(['Lake plankton']);
    expect(runsMatching(madeToday, 'lake control.fna').map((run) => run.name)).toEqual(['Lake plankton']);
    expect(runsMatching(madeToday, 'lake nonsense')).toEqual([]);
    expect(runsMatching(madeToday, '2025 second extraction').map((run) => run.name)).toEqual([
      'Lake plankton',
    ]);
    const named = madeToday.map((run) => (run.name === 'Example' ? { ...run, samples: ['gut-7'] } : run));
    expect(runsMatching(named, 'GUT-7').map((run) => run.name)).toEqual(['Example']);
    expect(runsMatching(madeToday, 'teaching model').map((run) => run.name)).toEqual(['Example']);
  });
});
