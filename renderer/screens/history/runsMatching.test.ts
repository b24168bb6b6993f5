import { describe, expect, it } from 'vitest';
import { madeRuns } from '../../testing/memoryEngine/runs.ts';
import { runsMatching } from './runsMatching.ts';

const runs = madeRuns(Date.parse('2026-11-01T12:00:00Z'));

describe('searching runs', () => {
  it('puts the newest first', () => {
    const times = runsMatching(runs, '').map((run) => run.createdAt);
    expect(times).toEqual(times.toSorted().reverse());
    expect(times).toHaveLength(runs.length);
  });

  it('wants every word, in the name, the folder, the model, a file, a sample, a tag or the note', () => {
    expect(runsMatching(runs, 'LAKE').map((run) => run.name)).toEqual(['Lake plankton']);
    expect(runsMatching(runs, 'lake control.fna').map((run) => run.name)).toEqual(['Lake plankton']);
    expect(runsMatching(runs, 'lake nonsense')).toEqual([]);
    expect(runsMatching(runs, '2025 second extraction').map((run) => run.name)).toEqual(['Lake plankton']);
    const named = runs.map((run) => (run.name === 'Example' ? { ...run, samples: ['gut-7'] } : run));
    expect(runsMatching(named, 'GUT-7').map((run) => run.name)).toEqual(['Example']);
    expect(runsMatching(runs, 'demo model').map((run) => run.name)).toEqual(['Example']);
  });
});
