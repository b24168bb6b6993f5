import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { beforeEach, expect, it, vi } from 'vitest';
import type { Service } from '../../engine/index.ts';
import { Quitting } from '../quit/quitting.ts';
import { updaterOf } from './openUpdates.ts';

const steps: string[] = [];
const app = vi.hoisted(() => ({ quit: (): void => undefined, relaunch: (): void => undefined }));
vi.mock('electron', () => ({ app, dialog: {} }));
vi.mock(import('../../engine/index.ts'), async (original) => ({
  ...(await original()),
  // What follows where a last step does not end the program; here it would end the tests.
  endByForce: () => undefined,
}));

/** Squirrel on macOS: it fetches and checks what it is to install, which takes seconds, and quits the app by itself. */
class Squirrel extends EventEmitter {
  refuses = false;
  checkForUpdates(): void {
    setTimeout(() => {
      if (this.refuses) this.emit('error', new Error('The signature does not fit'));
      else this.emit('update-downloaded');
    }, 50);
  }
  quitAndInstall(): void {
    steps.push('install');
    app.quit();
  }
}

/** The real updater for macOS over that Squirrel, and the real way out of the program. */
function macOs(): { squirrel: Squirrel; install: () => void } {
  const require = createRequire(import.meta.url);
  const squirrel = new Squirrel();
  // It is CommonJS, and asks for Electron by itself.
  require.cache[require.resolve('electron')] = { exports: { autoUpdater: squirrel } } as NodeJS.Module;
  const { MacUpdater } = require('electron-updater/out/MacUpdater.js') as {
    MacUpdater: new (options: null, app: object) => Parameters<typeof updaterOf>[0];
  };
  const service = {
    settings: { current: { proxy: null } },
    control: { queue: { active: null } },
    pythonEnvironment: {},
    downloads: {},
    packing: {},
    onRest: () => undefined,
    close: () => Promise.resolve(true),
  } as unknown as Service;
  const quitting = new Quitting(service, () => undefined);
  app.quit = () => {
    steps.push(quitting.mayGo() ? 'gone' : 'quit');
  };
  app.relaunch = () => {
    steps.push('relaunch');
  };
  const macUpdater = new MacUpdater(null, { version: '1.0.0' });
  macUpdater.logger = null;
  const updater = updaterOf(macUpdater, service);
  return {
    squirrel,
    install: () => {
      quitting.quitWith(() => {
        updater.install();
      });
    },
  };
}

beforeEach(() => {
  steps.length = 0;
});

it('on macOS ends the program only when Squirrel has the new version', async () => {
  const { install } = macOs();
  install();
  await vi.waitFor(() => expect(steps).toContain('gone'));
  expect(steps).toEqual(['quit', 'install', 'gone']);
});

it('starts the program again where Squirrel refuses the new version', async () => {
  const { squirrel, install } = macOs();
  squirrel.refuses = true;
  install();
  await vi.waitFor(() => expect(steps).toContain('gone'));
  expect(steps).toEqual(['quit', 'relaunch', 'gone']);
});
