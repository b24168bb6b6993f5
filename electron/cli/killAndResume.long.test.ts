import { cpSync, existsSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { PROVISIONAL_TABLE } from '../contract/results.ts';
import { openRunStore } from '../engine/index.ts';
import { randomNumbers } from '../engine/testing/randomNumbers.ts';
import {
  REAL_PYTHON,
  readTables,
  SAMPLE,
  temporaryFolder,
  WITHOUT_PYTHON,
} from '../engine/testing/testContext.ts';
import { ended, MANY_PARTS, succeeds, virnucpro, waitUntil } from './testing/commandLineProcess.ts';
import { backendProcesses, MARK } from './testing/markedProcesses.ts';

const SEED = 29;
const SHORT_RECORDS = 40_000;
const MOST_COPIES = 10;
const RANDOM_KILLS = 6;
const SAMPLED = [...MANY_PARTS, '--order', 'sample', '--chunk-length', '500+300'];

/** Cells that differ between two tables, except numbers that agree within the tolerance. */
function differences(a: string, b: string, tolerance: number): string[] {
  const others = b.split(/[\t\n]/);
  return a.split(/[\t\n]/).flatMap((cell, index) => {
    const other = others[index] ?? 'missing';
    const agree = cell === other || Math.abs(Number(cell) - Number(other)) <= tolerance;
    return agree ? [] : [`${cell}, ${other}`];
  });
}

describe.skipIf(WITHOUT_PYTHON ?? process.platform !== 'linux')('kill -9 of the engine', () => {
  it('loses nothing at any moment: after resuming, the tables equal those of an undisturbed run', async () => {
    const parent = temporaryFolder();
    const [whole, input] = [join(parent, 'whole'), join(parent, 'input.fa')];
    // Records that are too short to be scored cost almost nothing, but have rows in the tables.
    const short = Array.from({ length: SHORT_RECORDS }, (_, number) => `>short_${number}\nACGT\n`);
    writeFileSync(input, readFileSync(SAMPLE, 'utf8') + short.join(''));
    await succeeds(['predict', input, '-o', whole, '-q', ...SAMPLED]);

    const random = randomNumbers(SEED);
    let folder = join(parent, 'killed');
    const marker = folder;
    vi.stubEnv(MARK, marker);
    const start = () => {
      const devices = `cpu:${1 + Math.floor(3 * random())}`;
      return existsSync(join(folder, 'run.db'))
        ? ['resume', folder, '-q', '--devices', devices, '--python', REAL_PYTHON]
        : ['predict', input, '-o', folder, '-q', ...SAMPLED];
    };
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
      await new Promise((resolve) => setTimeout(resolve, 20 * random()));
      child.kill('SIGKILL');
      await end;
      expect(child.signalCode, `killed when ${description}, not ended before`).toBe('SIGKILL');
      await waitUntil(() => backendProcesses(marker).length === 0, 'no orphan holds a device');
    };
    const moments: [string, () => () => boolean][] = [
      ['the folder exists', exists('.')],
      ['the database exists', exists('run.db')],
      ['a part is prepared', () => () => files('parts') > 0],
      ['a worker has started', exists('logs/worker-cpu-1.log')],
      ['a part is scored', scored(1)],
      ['five more parts are scored', scored(5)],
    ];
    for (let more = 0; more < RANDOM_KILLS; more++) {
      const parts = Math.floor(4 * random());
      moments.push([`${parts} more parts are scored`, scored(parts)]);
    }
    for (const [description, moment] of moments) await kill(description, moment());

    // The goal is reached before a worker has started.
    await succeeds([...start(), '--until', '0.1s']);
    expect(readdirSync(folder)).toContain(PROVISIONAL_TABLE);

    // Writing the tables takes only a moment, so a kill may come too late; it is therefore tried on copies.
    const beforeTables = folder;
    let halfWritten: string[] = [];
    for (let copy = 1; copy <= MOST_COPIES && halfWritten.length === 0; copy++) {
      folder = join(parent, `copy ${copy}`);
      cpSync(beforeTables, folder, { recursive: true });
      const child = virnucpro(start());
      const watcher = watch(folder, (_, name) => {
        if (name?.endsWith('.tsv.tmp')) child.kill('SIGKILL');
      });
      await ended(child);
      watcher.close();
      await waitUntil(() => backendProcesses(marker).length === 0, 'no orphan holds a device');
      halfWritten = readdirSync(folder).filter((name) => name.endsWith('.tsv.tmp'));
    }
    expect(halfWritten).not.toEqual([]);
    await succeeds(start());
    vi.unstubAllEnvs();
    expect(await readTables(folder)).toEqual(await readTables(whole));
    expect(existsSync(join(folder, PROVISIONAL_TABLE))).toBe(false);
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);

    const store = await openRunStore(folder, {
      hostEntry: new URL('../engine/store/hostEntry.ts', import.meta.url),
      readOnly: true,
    });
    const { counts, prepared } = await store.loadRun();
    await store.close();
    expect(counts.frames.done).toBe(prepared?.frames);
    expect(counts.parts.done).toBe(prepared?.parts);
  });

  it('computes the same calls in the order of the files as in a sample, and scores within the tolerance', async () => {
    const parent = temporaryFolder();
    const [sample, file] = [join(parent, 'sample'), join(parent, 'file')];
    await succeeds(['predict', SAMPLE, '-o', sample, '-q', ...SAMPLED]);
    await succeeds(['predict', SAMPLE, '-o', file, '-q', ...SAMPLED, '--order', 'file']);
    const { counts } = JSON.parse(readFileSync(join(sample, 'run.json'), 'utf8')) as {
      counts: { tolerance: number };
    };
    const [sampled, inOrder] = [await readTables(sample), await readTables(file)];
    for (const [name, table] of Object.entries(sampled))
      expect(differences(table, inOrder[name] ?? '', counts.tolerance), name).toEqual([]);
  });

  it('exits with 130 after SIGINT and 143 after SIGTERM, and can be resumed after both', async () => {
    const parent = temporaryFolder();
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const folder = join(parent, signal);
      const child = virnucpro(['predict', SAMPLE, '-o', folder, ...MANY_PARTS, '--devices', 'cpu:1']);
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
});
