import { cpSync, existsSync, openSync, readdirSync, rmSync, statSync, writeSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  readTables,
  REAL_PYTHON,
  SAMPLE,
  temporaryFolder,
  WITHOUT_PYTHON,
} from '../engine/testing/testContext.ts';
import { ended, MANY_PARTS, succeeds, virnucpro, waitUntil } from './testing/commandLineProcess.ts';

/** None of these runs takes this long; a process that is still running has hung. */
const LIMIT_MS = 240_000;
const LIMITS = { timeoutMs: LIMIT_MS };

const predict = (folder: string) => ['predict', SAMPLE, '-o', folder, ...MANY_PARTS, '--devices', 'cpu:1'];
const resume = (folder: string) => ['resume', folder, '--python', REAL_PYTHON];

const done = (args: string[]): Promise<string> => succeeds(args, LIMITS);

let whole: Promise<string> | undefined;
/** A run that was not disturbed, with its work folder. */
const undisturbed = (): Promise<string> => (whole ??= predictWhole());

async function predictWhole(): Promise<string> {
  const folder = join(temporaryFolder(), 'whole');
  await done([...predict(folder), '--keep-work']);
  return folder;
}

async function copyOfWhole(): Promise<string> {
  const folder = join(temporaryFolder(), 'copy');
  cpSync(await undisturbed(), folder, { recursive: true });
  return folder;
}

describe.skipIf(WITHOUT_PYTHON ?? process.platform !== 'linux')(
  'on a failing computer, the command line',
  { timeout: 3 * LIMIT_MS },
  () => {
    it('exits with a plain message if nothing more can be written, and resumes once it can', async () => {
      const stopped = join(temporaryFolder(), 'stopped');
      // The file size limit in kilobytes: the database's write-ahead log reaches it in the middle of the run.
      const { code, output } = await ended(
        // Node's own compile cache is off, because the limit would be too low for it as well.
        virnucpro(predict(stopped), {
          ...LIMITS,
          shell: 'ulimit -f 250',
          env: { NODE_DISABLE_COMPILE_CACHE: '1' },
        }),
      );
      expect(code, output).toBe(1);
      expect(output).toContain('What to do: ');
      expect(output).not.toMatch(/Unexpected error|\n {4}at /);
      expect(existsSync(join(stopped, 'run.lock'))).toBe(false);
      await done(resume(stopped));
      expect(await readTables(stopped)).toEqual(await readTables(await undisturbed()));
    });

    it('reports that a run is damaged, and exits', async () => {
      const folder = await copyOfWhole();
      const database = openSync(join(folder, 'run.db'), 'r+');
      const { size } = statSync(join(folder, 'run.db'));
      // The first page and with it the list of tables stay intact, so that opening the database does not
      // reveal the damage.
      writeSync(database, Buffer.alloc(size - 4096 * 8, 0x55), 0, null, 4096 * 8);
      closeSync(database);
      const { code, output } = await ended(virnucpro(resume(folder), LIMITS));
      expect(code, output).toBe(1);
      expect(output).toContain('Run database is damaged');
      expect(output).not.toMatch(/\n {4}at |Go on with/);
    });

    it('continues when nobody reads its output any more, and when its terminal is closed', async () => {
      const parent = temporaryFolder();
      const [unread, orphaned] = [join(parent, 'unread'), join(parent, 'orphaned')];
      for (const kind of [[], ['--json']]) {
        const child = virnucpro([...predict(unread), '--force', ...kind], LIMITS);
        child.stdout?.destroy();
        child.stderr?.destroy();
        expect((await ended(child)).code).toBe(0);
      }
      const child = virnucpro(predict(orphaned), LIMITS);
      const end = ended(child);
      await waitUntil(
        () => existsSync(join(orphaned, 'work', 'parts', '000003.safetensors')),
        'four parts are prepared',
        LIMIT_MS,
      );
      child.kill('SIGHUP');
      expect((await end).code).toBe(0);
      for (const folder of [unread, orphaned])
        expect(await readTables(folder)).toEqual(await readTables(await undisturbed()));
    });

    it.each(['resume', 'finish'])('completes a run that died after its last part, by %s', async (command) => {
      const complete = (): Promise<string> => done([command, folder, '--python', REAL_PYTHON]);
      const folder = await copyOfWhole();
      const tables = await readTables(folder);
      for (const name of ['run.json', 'chunks.tsv', 'viral_sequences.fna']) rmSync(join(folder, name));
      expect(await complete()).toContain('written again');
      expect(existsSync(join(folder, 'run.json'))).toBe(true);
      expect(await readTables(folder)).toEqual(tables);
      expect(readdirSync(folder)).toContain('work');
      expect(await complete()).not.toContain('written again');
    });
  },
);
