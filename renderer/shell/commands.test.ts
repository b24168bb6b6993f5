import { describe, expect, it } from 'vitest';
import { createTexts } from '../i18n/index.ts';
import { madeRuns, RUN_IDS } from '../testing/memoryEngine/runs.ts';
import { commandsFor } from './commands.ts';

const runs = madeRuns(Date.now());
const at = (runId: string) => commandsFor({ screen: 'run', runId, tab: 'progress' }, runs, createTexts('en'));
const ids = (runId: string) => at(runId).map(({ id }) => id);

describe('the commands', () => {
  it.each([
    [
      'running',
      ['pause', 'drain', 'stop', 'discard', 'rename', 'annotate', 'again', 'command'],
      ['continue', 'delete'],
    ],
    ['queuedFirst', ['continue', 'leave-queue', 'delete'], ['pause', 'discard']],
    ['interrupted', ['continue', 'verify'], ['pause', 'retry']],
    ['withFailures', ['retry', 'verify', 'delete'], ['continue', 'pause']],
    ['done', ['again', 'verify', 'delete'], ['retry', 'continue', 'pause']],
    ['cancelled', ['continue', 'delete'], ['pause']],
  ] as const)('are for a run that is %s those of its buttons and its menu', (name, there, absent) => {
    const found = ids(RUN_IDS[name]);
    expect(found).toEqual(expect.arrayContaining([...there]));
    expect(found.filter((id) => absent.some((one) => one === id))).toEqual([]);
  });

  it('have a name and keys that no other has', () => {
    for (const runId of Object.values(RUN_IDS)) {
      const commands = at(runId);
      const keys = commands.flatMap((command) => command.keys ?? []);
      expect(new Set(keys).size).toBe(keys.length);
      expect(new Set(commands.map(({ id }) => id)).size).toBe(commands.length);
      const ofOne = commands.filter(({ id }) => runs.every((run) => run.runId !== id));
      expect(new Set(ofOne.map(({ group, label }) => `${group}: ${label}`)).size).toBe(ofOne.length);
    }
  });
});
