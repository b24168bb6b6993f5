import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { app, Notification, powerSaveBlocker } from 'electron';
import { gunzipSync, gzipSync } from 'node:zlib';
import { askUser } from '../askUser.ts';
import { pdfOf } from '../window/desktopActions.ts';
import { expectThat, type Point } from './point.ts';

const DIALOG_OPEN_MS = 2_000;
const TICK_MS = 100;
const NOTICE_WITHIN_MS = 10_000;

/** What the main process expects of Electron and of the desktop. */
export const desktopPoints: Point[] = [
  {
    what: 'Electron starts the main module before it is ready',
    check: ({ wasReady }) => {
      const { electron = 'unknown', modules, node } = process.versions as Partial<NodeJS.ProcessVersions>;
      expectThat(!wasReady, 'it was ready already, so schemes and the sandbox came too late');
      return `Electron ${electron}, modules ${modules ?? 'unknown'}, Node ${node ?? 'unknown'}`;
    },
  },
  {
    what: 'The data folder and the log can be written',
    check: ({ log }) => {
      expectThat(readFileSync(log.file, 'utf8').includes('Start of'), `${log.file} lacks this start`);
      return app.getPath('userData');
    },
  },
  {
    what: 'The hashes and the compression that the engine uses are there',
    check: () => {
      const hash = (name: string) => createHash(name).update('abc').digest('hex').slice(0, 8);
      expectThat(hash('sha1') === 'a9993e36' && hash('sha256') === 'ba7816bf', 'a hash is wrong');
      expectThat(gunzipSync(gzipSync('abc')).toString() === 'abc', 'gzip is wrong');
      return 'SHA-1, SHA-256, gzip';
    },
  },
  {
    what: 'The computer can be kept awake',
    check: () => {
      const id = powerSaveBlocker.start('prevent-app-suspension');
      const started = powerSaveBlocker.isStarted(id);
      powerSaveBlocker.stop(id);
      expectThat(started, 'the system refuses');
      return 'yes';
    },
  },
  {
    what: 'A notification is shown',
    check: async () => {
      if (!Notification.isSupported()) return { skipped: 'this desktop has none' };
      const notification = new Notification({ title: 'VirNucPro Desktop', body: 'Self-check' });
      const outcome = await new Promise<string>((resolve) => {
        notification.on('show', () => resolve('yes'));
        notification.on('failed', (_, reason) => resolve(reason));
        setTimeout(() => resolve('the desktop does not answer'), NOTICE_WITHIN_MS);
        notification.show();
      });
      notification.close();
      // Runs do not depend on it, and unsigned programs get none on macOS.
      return outcome === 'yes' ? outcome : { skipped: outcome };
    },
  },
  {
    what: 'A question does not hold up the engine',
    check: async () => {
      const enough = new AbortController();
      setTimeout(() => enough.abort(), DIALOG_OPEN_MS);
      let ticks = 0;
      const timer = setInterval(() => (ticks += 1), TICK_MS);
      const question = {
        message: 'Self-check',
        detail: 'It closes by itself.',
        choices: [['OK', 'ok']] as const,
      };
      await askUser({ ...question, cancel: 'ok' }, undefined, enough.signal);
      clearInterval(timer);
      expectThat(ticks > 1, 'nothing else went on while it was open');
      return `${ticks} ticks meanwhile`;
    },
  },
  {
    what: 'A report becomes a PDF',
    check: async () => {
      const folder = mkdtempSync(join(tmpdir(), 'Größe β '));
      const page = join(folder, 'report 1.html');
      writeFileSync(page, '<!doctype html><p>one<p style="break-before: page">two');
      try {
        const pages = (await pdfOf(page)).toString('latin1').match(/\/Type\s*\/Page\b/g)?.length;
        expectThat(pages === 2, `it has ${pages} pages`);
        return 'two pages';
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  },
];
