import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { openRunStore } from '../engine/index.ts';
import {
  REAL_PYTHON,
  readTables,
  SAMPLE,
  temporaryFolder,
  WITHOUT_PYTHON,
} from '../engine/testing/testContext.ts';
import { ended, MANY_PARTS, succeeds, virnucpro, waitUntil } from './testing/commandLineProcess.ts';

/** Python processes that work in the folder. */
function workersOf(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const [command, environment] = ['cmdline', 'environ'].map((file) =>
          readFileSync(`/proc/${pid}/${file}`, 'utf8'),
        );
        return Boolean(
          command?.includes('virnucpro_backend.') && environment?.includes(`VIRNUCPRO_TEST_FOLDER=${folder}`),
        );
      } catch {
        return false;
      }
    });
}

describe.skipIf(WITHOUT_PYTHON ?? process.platform !== 'linux')(
  'kill -9 of the engine',
  { timeout: 600_000 },
  () => {
    it('at any moment loses nothing: resumed, the tables are those of a run that nobody disturbed', async () => {
      const parent = await temporaryFolder();
      const whole = join(parent, 'whole');
      await succeeds(['predict', SAMPLE, '-o', whole, '-q', ...MANY_PARTS]);

      const folder = join(parent, 'killed');
      process.env['VIRNUCPRO_TEST_FOLDER'] = folder;
      const start = (): string[] =>
        existsSync(join(folder, 'run.db'))
          ? ['resume', folder, '-q', '--python', REAL_PYTHON]
          : ['predict', SAMPLE, '-o', folder, '-q', ...MANY_PARTS];
      const files = (kind: string): number =>
        existsSync(join(folder, 'work', kind)) ? readdirSync(join(folder, 'work', kind)).length : 0;
      const scored = (more: number) => (): (() => boolean) => {
        const before = files('scores');
        return () => files('scores') >= before + more;
      };
      const exists = (name: string) => (): (() => boolean) => () => existsSync(join(folder, name));
      const kill = async (description: string, reached: () => boolean): Promise<void> => {
        const child = virnucpro(start());
        const end = ended(child);
        await waitUntil(() => reached() || child.exitCode !== null, description);
        await new Promise((resolve) => setTimeout(resolve, 20 * Math.random()));
        child.kill('SIGKILL');
        await end;
        expect(child.signalCode, `killed when ${description}, not ended before`).toBe('SIGKILL');
        await waitUntil(() => workersOf(folder).length === 0, 'no orphan holds a device');
      };
      const moments: [string, () => () => boolean][] = [
        ['the folder exists', exists('.')],
        ['the database exists', exists('run.db')],
        ['a part is prepared', () => () => files('parts') > 0],
        ['a worker has started', exists('logs/worker-cpu-1.log')],
        ['a part is scored', scored(1)],
        ['two more parts are scored', scored(2)],
        ['five more parts are scored', scored(5)],
      ];
      for (const [description, moment] of moments) await kill(description, moment());

      // The last table to be opened is a pipe that nobody reads: there the writing waits until it is killed.
      const [pipe, halfWritten] = [join(folder, 'failed_records.tsv.tmp'), join(folder, 'sequences.tsv.tmp')];
      await execa('mkfifo', [pipe]);
      await kill('tables are written', () => existsSync(halfWritten));
      expect(existsSync(join(folder, 'sequences.tsv'))).toBe(false);
      rmSync(pipe);
      writeFileSync(halfWritten, 'half a row');
      await succeeds(start());
      delete process.env['VIRNUCPRO_TEST_FOLDER'];
      expect(await readTables(folder)).toEqual(await readTables(whole));

      const store = await openRunStore(folder, {
        hostEntry: new URL('../engine/store/sqlite/hostEntry.ts', import.meta.url),
        readOnly: true,
      });
      const { counts, prepared } = await store.loadRun();
      await store.close();
      expect(counts.frames.done).toBe(prepared?.frames);
      expect(counts.parts.done).toBe(prepared?.parts);
    });

    it('answers SIGINT with 130 and SIGTERM with 143, and both can be resumed', async () => {
      const parent = await temporaryFolder();
      for (const [signal, code] of [
        ['SIGINT', 130],
        ['SIGTERM', 143],
      ] as const) {
        const folder = join(parent, signal);
        const child = virnucpro(['predict', SAMPLE, '-o', folder, ...MANY_PARTS]);
        const end = ended(child);
        await waitUntil(
          () => existsSync(join(folder, 'work', 'parts', '000003.safetensors')),
          'four parts are prepared',
        );
        child.kill(signal);
        expect((await end).code).toBe(code);
        await succeeds(['resume', folder, '-q', '--python', REAL_PYTHON]);
      }
    });
  },
);
