import { expect, it, vi } from 'vitest';
import { Updates, type Updater, type UpdatesOptions } from './updates.ts';

const HOUR_MS = 60 * 60 * 1000;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** A release folder, a run, a setting and a clock, all to be changed by the test. */
function world(options: Partial<UpdatesOptions> = {}) {
  const here = {
    newest: '1.1.0' as string | null | Error,
    download: undefined as Error | undefined,
    isAtWork: false,
    isWanted: true,
    time: Date.UTC(2026, 0, 1),
    asked: 0,
    said: [] as string[],
    steps: [] as string[],
  };
  const updater: Updater = {
    newest: () => {
      here.asked += 1;
      return here.newest instanceof Error ? Promise.reject(here.newest) : Promise.resolve(here.newest);
    },
    download: (onProgress) => {
      onProgress(0.5);
      return here.download ? Promise.reject(here.download) : Promise.resolve();
    },
    install: () => here.steps.push('install'),
  };
  const updates = new Updates({
    updater,
    builtAt: new Date(here.time),
    isWanted: () => here.isWanted,
    isAtWork: () => here.isAtWork,
    quitWith: (lastStep) => {
      here.steps.push('quit');
      lastStep();
    },
    log: (line) => here.said.push(line),
    now: () => here.time,
    ...options,
  });
  return Object.assign(here, { updates });
}

it('fetches and installs a newer version, each when the user says so', async () => {
  const { updates, steps } = world();
  await updates.look();
  expect(updates.status.update).toEqual({ state: 'available', version: '1.1.0' });
  expect(() => {
    updates.install();
  }).toThrow('No newer version has been fetched');
  updates.download();
  await vi.waitFor(() => expect(updates.status.update).toEqual({ state: 'ready', version: '1.1.0' }));
  expect(steps).toEqual([]);
  updates.install();
  expect(steps).toEqual(['quit', 'install']);
});

it('does nothing while a run is at work', async () => {
  const here = world();
  here.isAtWork = true;
  await here.updates.look();
  expect(here.asked).toBe(0);
  here.isAtWork = false;
  await here.updates.look();
  here.isAtWork = true;
  expect(() => {
    here.updates.download();
  }).toThrow('A run is at work');
  here.isAtWork = false;
  here.updates.download();
  await vi.waitFor(() => expect(here.updates.status.update.state).toBe('ready'));
  here.isAtWork = true;
  expect(() => {
    here.updates.install();
  }).toThrow('A run is at work');
  expect(here.steps).toEqual([]);
});

it('is off by one setting', async () => {
  const here = world();
  here.isWanted = false;
  await here.updates.look();
  expect([here.asked, here.updates.status.update]).toEqual([0, { state: 'off', reason: 'setting' }]);
});

it('asks no more than once a day', async () => {
  const here = world();
  here.newest = null;
  for (let hour = 0; hour < 49; hour += 1) {
    await here.updates.look();
    here.time += HOUR_MS;
  }
  expect(here.asked).toBe(3);
});

it('offers the newest version also where an older one was offered before, but leaves what has been fetched', async () => {
  const here = world();
  const { updates } = here;
  const lookNextDay = async (newest: string | null) => {
    here.newest = newest;
    here.time += 25 * HOUR_MS;
    await updates.look();
    return updates.status.update;
  };
  expect(await lookNextDay('1.1.0')).toEqual({ state: 'available', version: '1.1.0' });
  expect(await lookNextDay('1.2.0')).toEqual({ state: 'available', version: '1.2.0' });
  expect(await lookNextDay(null)).toEqual({ state: 'none' });
  await lookNextDay('1.3.0');
  updates.download();
  await vi.waitFor(() => expect(updates.status.update.state).toBe('ready'));
  expect(await lookNextDay('1.4.0')).toEqual({ state: 'ready', version: '1.3.0' });
});

it.each([new Error('net::ERR_INTERNET_DISCONNECTED'), '<script>alert(1)</script>', ''])(
  'says nothing to the user where the answer is %s',
  async (newest) => {
    const here = world();
    here.newest = newest;
    await here.updates.look();
    expect(here.updates.status.update).toEqual({ state: 'none' });
    expect(here.said.join()).toContain('No answer about newer versions');
  },
);

it('lets a download that failed be tried again', async () => {
  const here = world();
  await here.updates.look();
  here.download = new Error('sha512 checksum mismatch');
  here.updates.download();
  await vi.waitFor(() => expect(here.updates.status.update.state).toBe('failed'));
  expect(here.said.join()).toContain('checksum mismatch');
  here.download = undefined;
  here.updates.download();
  await vi.waitFor(() => expect(here.updates.status.update.state).toBe('ready'));
});

it('knows when this version is a year old, whether or not it can be renewed', () => {
  for (const updater of ['no_address', 'by_hand'] as const) {
    const here = world({ updater });
    expect(here.updates.status).toEqual({ outdated: false, update: { state: 'off', reason: updater } });
    here.time += YEAR_MS + HOUR_MS;
    expect(here.updates.status.outdated).toBe(true);
  }
  const unknown = world({ builtAt: null });
  unknown.time += 2 * YEAR_MS;
  expect(unknown.updates.status.outdated).toBe(false);
});
