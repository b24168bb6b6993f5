import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { prepareEventSchema, type PreparedPart } from '../../contract/protocol/index.ts';
import { openRunStore, type RunStore } from './runStore.ts';
import { begin, HOST_ENTRY } from './testing/storeFixture.ts';
import { DESCRIPTION, syntheticPlan, writeScores } from './testing/syntheticRun.ts';
import { readPartFrames } from './sqlite/parts/partIntake.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';
const BACKEND = fileURLToPath(new URL('../../../python-backend', import.meta.url));
const PYTHON = join(BACKEND, '.venv/bin/python');

/** Runs a module with one command and keeps its standard input open, like a running engine. */
async function python(module: string, command: object): Promise<{ type: string }[]> {
  const child = spawn(PYTHON, ['-X', 'utf8', '-m', `virnucpro_backend.${module}`], {
    env: { ...process.env, PYTHONPATH: join(BACKEND, 'src') },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.write(`${JSON.stringify(command)}\n`);
  const lines = (await text(child.stdout)).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as { type: string });
}

/** Passes every event of a real prepare to the store; returns the parts. */
async function prepare(store: RunStore, command: object): Promise<PreparedPart[]> {
  const parts: PreparedPart[] = [];
  for (const line of await python('prepare', command)) {
    const event = prepareEventSchema.parse(line);
    if (event.type === 'records') await store.ingestRecords(event);
    else if (event.type === 'input_problem') await store.addInputProblem(event);
    else if (event.type === 'input_done') await store.finishInput(event);
    else if (event.type === 'done') await store.finishPrepare(event);
    else if (event.type === 'prepare_failed') throw new Error(event.code);
    else if (event.type === 'part') {
      await store.registerPart(event);
      parts.push(event);
    }
  }
  return parts;
}

const GLYCINES = 'GGC'.repeat(250); // Open in every frame.
const FIRST = [
  `>first record\n${GLYCINES.slice(0, 700)}\n`,
  `>first again, same name\n${GLYCINES.slice(0, 120).toLowerCase()}\n`,
  '>nothing\n',
  '>bad\nACGT\x01\x7fACGT\n',
  `>stops\n${'TAATTAATTAA'.repeat(10)}\n`,
].join('');
const SECOND = `@read\u00e9 one\r\n${GLYCINES.slice(0, 90)}\r\n+\r\n${'I'.repeat(90)}\r\n`;

describe.skipIf(!existsSync(PYTHON))('with the real prepare (skipped without python-backend/.venv)', () => {
  it('stores its files, and extracts the same records from the inputs again', async () => {
    const folder = join(temporaryFolder(), 'run');
    mkdirSync(join(folder, 'work'), { recursive: true });
    const contents = [Buffer.from(FIRST), gzipSync(Buffer.from(SECOND, 'latin1'))];
    const inputs = contents.map((content, input) => {
      const path = join(folder, '..', `in${input}`);
      writeFileSync(path, content);
      const sha256 = createHash('sha256').update(content).digest('hex');
      return { path, sizeBytes: content.length, sha256 };
    });
    const hashed = inputs.map(({ path, sha256 }) => ({ path, sha256 }));
    const plan = { ...syntheticPlan(2), inputs };
    const store = await openRunStore(folder, {
      hostEntry: HOST_ENTRY,
      create: { plan, description: DESCRIPTION },
    });
    const command = {
      type: 'prepare',
      inputs: hashed.map((file, input) => ({ input, ...file })),
      work_dir: join(folder, 'work'),
      chunk_length: plan.chunkLength,
      residues_per_part: 300,
      tail_parts: 2,
      order_seed: null,
    };
    const parts = await prepare(store, command);
    expect(parts.length).toBeGreaterThan(1);
    for (const { key, residues } of parts) {
      const part = await store.part(key);
      const read = readPartFrames(folder, part!);
      if (!read.ok) throw new Error(read.message);
      const { row, chunk, frame } = read.frames;
      const frames = Array.from(row, (_, i) => ({ row: row[i]!, chunk: chunk[i]!, frame: frame[i]! }));
      const report = writeScores(folder, { residues }, key, frames, (ref) => (ref.row === 0 ? 0.25 : 0.75));
      expect(await store.completePart(report, await begin(store, key), 1)).toMatchObject({
        outcome: 'taken',
      });
    }
    const { counts } = await store.writeTables();
    expect(counts.byReason).toMatchObject({ ok: 3, empty: 1, invalid_characters: 1, no_open_frame: 1 });
    const page = await store.findSequences({ filter: {} }, { by: 'row', descending: false }, 0, 10);
    expect(page.items.map(({ seqName, header, input, length }) => [seqName, header, input, length])).toEqual([
      ['first', 'first record', 0, 700],
      ['first', 'first again, same name', 0, 120],
      ['nothing', 'nothing', 0, 0],
      ['bad', 'bad', 0, 10],
      ['stops', 'stops', 0, 110],
      ['read\u00e9', 'read\u00e9 one', 1, 90],
    ]);

    const rowsPath = join(folder, 'rows');
    expect(await store.writeViralRows(rowsPath)).toBe(2);
    const outPath = join(folder, 'out.fna');
    const extraction = { type: 'extract', inputs: hashed, rows_path: rowsPath, out_path: outPath };
    expect(await python('prepare.extract', extraction)).toEqual([{ type: 'extracted', records: 2 }]);
    expect(readFileSync(outPath, 'utf8')).toBe(
      [
        '>first again, same name',
        GLYCINES.slice(0, 80).toLowerCase(),
        GLYCINES.slice(80, 120).toLowerCase(),
        '>read\u00e9 one',
        GLYCINES.slice(0, 80),
        GLYCINES.slice(80, 90),
        '',
      ].join('\n'),
    );
    await store.close();
  });
});
