import { describe, expect, it } from 'vitest';
import { createTexts } from '../i18n/index.ts';
import { madeRuns, RUN_IDS } from '../testing/memoryEngine/runs.ts';
import { commandsFor } from './commands.ts';

const runs = madeRuns(Date.now());
const seen = {
  lacksPython: false,
  hasComputers: false,
  isRead: true,
  devices: [
    { id: 'GPU-a', index: 0, place: null, isOut: false },
    { id: 'GPU-b', index: 1, place: null, isOut: true },
  ],
};
const at = (runId: string, what = seen) =>
  commandsFor({ screen: 'run', runId, tab: 'progress' }, runs, what, createTexts('en'));
const ids = (runId: string) => at(runId).map(({ id }) => id);

describe('commands', () => {
  it.each([
    [
      'running',
      [
        'pause',
        'drain',
        'stop',
        'discard',
        'finish-now',
        'device-GPU-a',
        'export',
        'report',
        'rename',
        'again',
        'log',
        'disk',
        'diagnostics',
        'check-again',
        'set-up-offline',
        'guide-numbers',
      ],
      ['continue', 'delete'],
    ],
    ['queuedFirst', ['continue', 'leave-queue', 'delete'], ['pause', 'discard', 'export', 'device-GPU-a']],
    ['interrupted', ['continue', 'verify'], ['pause', 'retry']],
    ['withFailures', ['retry', 'verify', 'delete'], ['continue', 'pause']],
    [
      'done',
      ['again', 'verify', 'delete', 'export', 'report', 'compare'],
      ['retry', 'continue', 'pause', 'finish-now'],
    ],
    ['cancelled', ['continue', 'delete'], ['pause']],
  ] as const)('are for a run that is %s those of its buttons and its menu', (name, there, absent) => {
    const found = ids(RUN_IDS[name]);
    expect(found).toEqual(expect.arrayContaining([...there]));
    expect(found.filter((id) => absent.some((one) => one === id))).toEqual([]);
  });

  it('exclude a device that computes and include one that does not', () => {
    const labels = at(RUN_IDS.running).map(({ label }) => label);
    expect(labels).toEqual(expect.arrayContaining(['Exclude: GPU 0', 'Use again: GPU 1']));
  });

  it('set up a computer that is not set up, and lead to other computers if there are any', () => {
    const ids = (what: typeof seen) =>
      commandsFor({ screen: 'help' }, [], what, createTexts('en')).map(({ id }) => id);
    expect(ids({ ...seen, lacksPython: true, hasComputers: true })).toEqual(
      expect.arrayContaining(['set-up', 'set-up-offline', 'go-computers', 'go-start']),
    );
    expect(ids({ ...seen, lacksPython: true })).not.toContain('pack');
    expect(ids(seen)).toEqual(expect.arrayContaining(['pack', 'import-files']));
    expect(ids(seen)).not.toContain('set-up');
  });

  it('finish a run with what is computed only once all of its input is read', () => {
    const unread = at(RUN_IDS.running, { ...seen, isRead: false }).map(({ id }) => id);
    expect(unread).not.toContain('finish-now');
  });

  it('have unique names and keys', () => {
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
