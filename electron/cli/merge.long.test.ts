import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { RESULT_FILES } from '../contract/results.ts';
import { SAMPLE, WITHOUT_PYTHON } from '../engine/testing/realFiles.ts';
import { readTables, temporaryFolder } from '../engine/testing/testContext.ts';
import { ended, MANY_PARTS, succeeds, virnucpro } from './testing/commandLineProcess.ts';

const RUN = [...MANY_PARTS, '--order', 'file', '-q'];

describe.skipIf(WITHOUT_PYTHON)('finished runs of several files', () => {
  it('merge into exactly the bytes of one run over all files, even if the files have since moved', async () => {
    const folder = temporaryFolder();
    const at = (name: string): string => join(folder, name);
    const records = readFileSync(SAMPLE, 'utf8').split(/^(?=>)/m);
    const ends = [13, 14, 30, 30, records.length];
    const files = ends.map((end, place) => {
      writeFileSync(at(`${place}.fa`), records.slice(ends[place - 1] ?? 0, end).join(''));
      return at(`${place}.fa`);
    });
    const fails = async (args: string[], cause: string): Promise<void> => {
      const { code, output } = await ended(virnucpro(args));
      expect(code).toBe(1);
      expect(output).toContain(cause);
    };
    const some = (index: number, of: string[]): Promise<string> =>
      succeeds(['predict', ...of, '-o', at(`s${index}`), ...RUN]);

    await succeeds(['predict', ...files, '-o', at('one'), ...RUN]);
    await some(1, files.slice(0, 1));
    await some(2, files.slice(1, 3));
    await some(3, files.slice(3));

    for (const file of files) renameSync(file, `${file}.away`);
    await succeeds(['merge', at('s1'), at('s2'), at('s3'), '-o', at('all'), '-q']);
    expect(await readTables(at('all'))).toEqual(await readTables(at('one')));
    const viral = (run: string): string => readFileSync(join(at(run), RESULT_FILES.viralSequences), 'utf8');
    expect(viral('all')).toBe(viral('one'));
    const { devices } = JSON.parse(readFileSync(join(at('all'), 'run.json'), 'utf8')) as {
      devices: { id: string }[];
    };
    // Each run has two.
    expect(new Set(devices.map(({ id }) => id)).size).toBe(6);
    await succeeds(['verify', at('s2')]);

    const changed = new Database(join(at('s2'), 'run.db'));
    changed.exec(
      `UPDATE chunk SET scores = zeroblob(length(scores)) WHERE row = (SELECT min(row) FROM chunk)`,
    );
    changed.close();
    await fails(['merge', at('s1'), at('s2'), at('s3'), '-o', at('again')], 'damaged');
    expect(existsSync(at('again'))).toBe(false);
  });
});
