import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { inspectedFileSchema } from '../contract/protocol/index.ts';
import { RESULT_FILES } from '../contract/results.ts';
import { readTables, SAMPLE, temporaryFolder, WITHOUT_PYTHON } from '../engine/testing/testContext.ts';
import { REAL_PYTHON } from '../engine/testing/realFiles.ts';
import { ended, MANY_PARTS, succeeds, virnucpro, waitUntil } from './testing/commandLineProcess.ts';

const factsSchema = z.object({
  counts: z.object({ residues: z.number(), residues_taken_over: z.number().optional() }),
  devices: z.array(z.object({ residues: z.number() })),
});

type Row = Record<string, string>;

/** chunks.tsv or sequences.tsv. */
function rowsOf(folder: string, name: 'chunks' | 'sequences'): Row[] {
  const lines = readFileSync(join(folder, RESULT_FILES[name]), 'utf8').trimEnd().split('\n');
  const [names = [], ...rows] = lines.map((line) => line.split('\t'));
  return rows.map((cells) => Object.fromEntries(names.map((column, i) => [column, cells[i] ?? ''])));
}

/** The records of the sample, in pieces of this many bases. */
function pieces(length: number): Map<string, string> {
  const found = new Map<string, string>();
  for (const record of readFileSync(SAMPLE, 'utf8').split('>').slice(1)) {
    const letters = record.split('\n').slice(1).join('');
    for (let start = 0; start + length <= letters.length; start += length)
      found.set(`piece_${found.size}`, letters.slice(start, start + length));
  }
  return found;
}

const asFasta = (records: Iterable<[string, string]>) =>
  [...records].map(([name, letters]) => `>${name}\n${letters}\n`).join('');

const predict = (file: string, folder: string, length: string, ...more: string[]) => [
  ...['predict', file, '-o', folder, '-q', ...MANY_PARTS, '--precision', 'fp32', '--chunk-length', length],
  ...more,
];

describe.skipIf(WITHOUT_PYTHON)('predict --chunk-length 500+300', () => {
  it('judges what 500 judges as 500 does, and the rest as 300 judges the same bases', async () => {
    const parent = temporaryFolder();
    const [input, lost] = [join(parent, 'input.fa'), join(parent, 'lost.fa')];
    const at = (name: string) => join(parent, name);
    const [one, two, shorter] = [at('one'), at('two'), at('shorter')];
    const sequences = pieces(500);
    writeFileSync(input, asFasta(sequences));
    await succeeds(predict(input, one, '500'));
    await succeeds(predict(input, two, '500+300'));

    const [first, both] = [rowsOf(one, 'chunks'), rowsOf(two, 'chunks')];
    const unscored = first.filter(({ reason }) => reason === 'no_open_frame');
    expect(unscored.length).toBeGreaterThan(5);
    writeFileSync(
      lost,
      asFasta(unscored.map(({ seq_name: name = '' }) => [name, sequences.get(name) ?? ''])),
    );
    await succeeds(predict(lost, shorter, '300'));
    const halves = Map.groupBy(rowsOf(shorter, 'chunks'), ({ seq_name: name = '' }) => name);
    let judgedAgain = 0;
    for (const [i, { judged_by: judge, ...row }] of both.entries()) {
      const alone = first[i] ?? {};
      if (alone['reason'] === 'ok') {
        expect(judge).toBe('500');
        expect(row).toEqual(alone);
        continue;
      }
      const scored = halves.get(row['seq_name'] ?? '')?.filter(({ reason }) => reason === 'ok') ?? [];
      expect(judge).toBe(scored.length === 0 ? 'NA' : '300');
      if (scored.length === 0) continue;
      judgedAgain += 1;
      const most = (column: string) => Math.max(...scored.map(({ [column]: score }) => Number(score)));
      for (const column of ['score1', 'score2']) expect(Number(row[column])).toBeCloseTo(most(column), 4);
    }
    expect(judgedAgain).toBeGreaterThan(2);
    // What the original tool's files hold is the first model's alone.
    for (const name of [RESULT_FILES.originalFrames, RESULT_FILES.originalChunks])
      expect(readFileSync(join(two, name), 'utf8')).toBe(readFileSync(join(one, name), 'utf8'));

    // What was said of the files before is what was found, to the sequence and to the base.
    const { judged } = inspectedFileSchema
      .pick({ judged: true })
      .parse(JSON.parse(await succeeds(['validate', input, '--json', '--python', REAL_PYTHON])));
    for (const [look, folder] of [
      ['500', one],
      ['500+300', two],
    ] as const) {
      const scored = rowsOf(folder, 'sequences').filter(({ prediction }) => prediction !== 'not_scored');
      const bases = scored.reduce((sum, row) => sum + Number(row['n_bases_scored']), 0);
      const frames = scored.reduce((sum, row) => sum + Number(row['n_frames_scored']), 0);
      expect(judged[look]).toMatchObject({ sequences: scored.length, bases, frames });
    }

    // Resuming with one length is another run; the command that repeats it has both.
    const resumed = await ended(virnucpro([...predict(input, two, '500'), '--resume']));
    expect(resumed.code).toBe(1);
    expect(resumed.output).toContain('500+300');
    const { output } = await ended(virnucpro(['status', two, '--command']));
    expect(output).toContain('--chunk-length 500+300');
    // With one worker, and files one after the other, the tables are the same.
    const again = join(parent, 'again');
    await succeeds([...predict(input, again, '500+300'), '--devices', 'cpu:1']);
    expect(await readTables(again)).toEqual(await readTables(two));
  });

  it('computes only the second look of a finished run, killed and resumed in between, with the tables of both looks', async () => {
    const parent = temporaryFolder();
    const at = (name: string) => join(parent, name);
    const [input, one, two, later] = [at('input.fa'), at('one'), at('two'), at('later')];
    writeFileSync(input, asFasta(pieces(500)));
    const to = (folder: string, length: string, ...more: string[]) =>
      predict(input, folder, length, '--order', 'sample', ...more);
    await succeeds(to(one, '500'));
    await succeeds(to(two, '500+300'));

    const killed = virnucpro(to(later, '500+300', '--reuse-embeddings', one));
    const end = ended(killed);
    const scores = join(later, 'work', 'scores');
    await waitUntil(
      () => killed.exitCode !== null || (existsSync(scores) && readdirSync(scores).length > 0),
      'a part of the second look is computed',
    );
    killed.kill('SIGKILL');
    await end;
    expect(killed.signalCode).toBe('SIGKILL');
    await succeeds(['resume', later, '-q', '--python', REAL_PYTHON]);
    expect(await readTables(later)).toEqual(await readTables(two));

    const residues = (folder: string) => {
      const { counts, devices } = factsSchema.parse(
        JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')),
      );
      const computed = devices.reduce((sum, device) => sum + device.residues, 0);
      return { all: counts.residues, computed, taken: counts.residues_taken_over };
    };
    const [first, both] = [residues(one).all, residues(two).all];
    expect(residues(two)).toEqual({ all: both, computed: both });
    expect(residues(later)).toEqual({ all: both, computed: both - first, taken: first });

    // Another reading of the inputs cuts other parts, whose scores nobody has computed.
    const other = await ended(
      virnucpro(to(join(parent, 'other'), '500+300', '--reuse-embeddings', one, '--min-length', '400')),
    );
    expect(other.code).toBe(1);
    expect(other.output).toContain('cannot be taken over');
  });

  it('refuses a second length that is not shorter, or less than half', async () => {
    for (const length of ['500+500', '500+200', '300+500', '500+300+200']) {
      const { code, output } = await ended(virnucpro(predict(SAMPLE, temporaryFolder(), length)));
      expect(code, output).toBe(1);
    }
  });
});
