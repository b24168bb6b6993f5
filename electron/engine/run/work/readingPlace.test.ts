import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Place } from '../../../contract/protocol/index.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import type { ReadBefore, StoredRun } from '../../store/types.ts';
import { temporaryFolder } from '../../testing/testContext.ts';
import { ReadingPlace } from './readingPlace.ts';

const PLACE: Place = {
  input: 2,
  format: 'fasta',
  byte_offset: 1000,
  row: 90,
  first_rows: [0, 50],
  problems: [{ code: 'empty', count: 1, examples: [{ row: 3, name: 'a', detail: '0 letters' }] }],
  input_bases: 4000,
  other_letters: [[78, 3]],
  bases: 9000,
  chunks: 91,
  frames: 200,
  residues: 3000,
  reasons: { ok: 89, empty: 1 },
  parts: 7,
  part_row: 95,
  part_chunk: 0,
  record_files: 1,
  records_row: 100,
};
const FILES = [{ path: 'work/records/000000.safetensors', sha256: '0'.repeat(64), first_row: 0, count: 100 }];

async function begun() {
  const folder = await temporaryFolder();
  mkdirSync(join(folder, 'work'));
  const inputs = [0, 2].map((input) => ({ input, path: join(folder, `${input}.fa`) }));
  for (const { path } of inputs) writeFileSync(path, '>a\nACGT\n');
  const before: ReadBefore = { parts: PLACE.parts, recordFiles: FILES };
  const store = { folder, readBefore: () => Promise.resolve(before) } as unknown as RunStore;
  const run = {
    description: { runId: 'run-1' },
    prepared: null,
    inputs: inputs.map((input) => ({ ...input, failure: null })),
  } as unknown as StoredRun;
  await (await ReadingPlace.open(store, '1.0', run)).begin(inputs);
  const open = (changes: { version?: string; run?: Partial<StoredRun> } = {}): Promise<ReadingPlace> =>
    ReadingPlace.open(store, changes.version ?? '1.0', { ...run, ...changes.run });
  return { folder, inputs, before, run, open, file: join(folder, 'work', 'reading.json') };
}

describe('the place that prepare has reached', () => {
  it('is where the next session goes on, with the records before it', async () => {
    const { open, inputs } = await begun();
    expect(await (await open()).goOnFrom(inputs)).toBeNull();
    (await open()).reached(PLACE);
    expect(await (await open()).goOnFrom(inputs)).toEqual({ place: PLACE, record_files: FILES });
    (await open()).reached({ ...PLACE, row: 95 });
    expect(await (await open()).goOnFrom(inputs)).toMatchObject({ place: { row: 95 } });
    expect((await open({ run: { prepared: {} as never } })).knowsInputs(inputs)).toBe(false);
  });

  it('means nothing for changed inputs, fewer inputs, another version or another run', async () => {
    const { open, inputs, run } = await begun();
    (await open()).reached(PLACE);
    expect(await (await open({ version: '1.1' })).goOnFrom(inputs)).toBeNull();
    const other = { ...run.description, runId: 'run-2' };
    expect(await (await open({ run: { description: other } })).goOnFrom(inputs)).toBeNull();
    expect(await (await open()).goOnFrom(inputs.slice(1))).toBeNull();
    const one = run.inputs.slice(1);
    expect(await (await open({ run: { inputs: one } })).goOnFrom(inputs.slice(1))).toBeNull();
    // Of the same length, as an editor leaves it.
    for (const { path } of inputs) writeFileSync(path, '>a\nACGA\n');
    expect((await open()).knowsInputs(inputs)).toBe(false);
    expect(await (await open()).goOnFrom(inputs)).toBeNull();
  });

  it('means nothing where run.db does not have all that comes before it', async () => {
    const { open, inputs, before } = await begun();
    (await open()).reached(PLACE);
    before.parts = PLACE.parts - 1;
    expect(await (await open()).goOnFrom(inputs)).toBeNull();
    before.parts = PLACE.parts;
    before.recordFiles = [];
    expect(await (await open()).goOnFrom(inputs)).toBeNull();
  });

  it('is forgotten for good, and with every flipped bit of its file', async () => {
    const { open, inputs, file } = await begun();
    (await open()).reached(PLACE);
    const bytes = readFileSync(file);
    for (let at = 0; at < bytes.length; at += 7) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(bytes.readUInt8(at) ^ (1 << (at % 8)), at);
      writeFileSync(file, flipped);
      expect(await (await open()).goOnFrom(inputs)).toBeNull();
    }
    writeFileSync(file, bytes);
    const reading = await open();
    reading.forget();
    reading.reached(PLACE);
    expect(await (await open()).goOnFrom(inputs)).toBeNull();
  });
});
