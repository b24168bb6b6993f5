import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { APP_PATHS } from '../engine/testing/realFiles.ts';
import { REAL_PYTHON, SAMPLE, temporaryFolder, WITHOUT_PYTHON } from '../engine/testing/testContext.ts';
import { ended, succeeds, virnucpro } from './testing/commandLineProcess.ts';

interface Case {
  title: string;
  name: string;
}

const GENERATOR = join(APP_PATHS.root, 'python-backend', 'tests', 'prepare', 'bad_inputs.py');
const TABLE = join(APP_PATHS.root, 'python-backend', 'tests', 'prepare', 'bad_inputs.tsv');
const FLAGS = ['--model', 'teaching', '--devices', 'cpu', '--python', REAL_PYTHON, '-q'];

/** Cases of the table that a run should leave out. */
function leftOut(): Set<string> {
  const lines = readFileSync(TABLE, 'utf8').trimEnd().split('\n');
  return new Set(
    lines.flatMap((line) => {
      const [outcome, , ...titles] = line.split('\t');
      return outcome === 'left out' ? titles : [];
    }),
  );
}

/** Rows of one input in a table, without the number that depends on the other inputs. */
function rowsOf(folder: string, input: string): string[] {
  const [header = '', ...lines] = readFileSync(join(folder, 'sequences.tsv'), 'utf8').split('\n');
  const columns = header.split('\t');
  const [row, file] = [columns.indexOf('row'), columns.indexOf('input')];
  return lines
    .map((line) => line.split('\t'))
    .filter((cells) => cells[file] === input)
    .map((cells) => cells.filter((_, column) => column !== row).join('\t'));
}

describe.skipIf(WITHOUT_PYTHON ?? process.platform === 'win32')('files that are damaged or foreign', () => {
  it('do not stop a run, and together change nothing for one good file', async () => {
    const parent = temporaryFolder();
    const at = (name: string) => join(parent, name);
    const [inputs, alone, together] = [at('inputs'), at('alone'), at('together')];
    mkdirSync(inputs);
    const cases = JSON.parse(execFileSync(REAL_PYTHON, [GENERATOR, inputs], { encoding: 'utf8' })) as Case[];
    const good = join(inputs, 'zz good.fa');
    writeFileSync(good, readFileSync(SAMPLE, 'utf8').split('>').slice(0, 4).join('>'));
    await succeeds(['predict', good, '-o', alone, ...FLAGS]);
    const { code, output } = await ended(virnucpro(['predict', inputs, '-o', together, ...FLAGS]));
    expect(code, output).toBe(2);
    expect(output).not.toMatch(/Unexpected error|\n {4}at |Traceback/);
    expect(rowsOf(alone, 'zz good.fa')).toHaveLength(3);
    expect(rowsOf(together, 'zz good.fa')).toEqual(rowsOf(alone, 'zz good.fa'));

    const out = leftOut();
    expect(out.size).toBeGreaterThan(40);
    const failed = readFileSync(join(together, 'failed_files.txt'), 'utf8').trimEnd().split('\n');
    const wanted = cases.filter(({ title }) => out.has(title)).map(({ name }) => join(inputs, name));
    expect(failed.map((line) => line.split('|')[0]).sort()).toEqual(wanted.sort());

    const strict = await ended(
      virnucpro(['predict', inputs, '-o', join(parent, 'strict'), '--strict', ...FLAGS]),
    );
    expect(strict.code).toBe(1);
  });
});
