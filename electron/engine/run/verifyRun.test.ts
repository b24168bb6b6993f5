import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, it } from 'vitest';
import { NOTICE_FILE, RESULT_FILES, TEXT_TABLES } from '../../contract/results.ts';
import { openRunStore } from '../store/runStore.ts';
import {
  compute,
  computeAll,
  HOST_ENTRY,
  preparedRun,
  type PreparedRun,
} from '../store/testing/storeFixture.ts';
import { recordOf } from '../store/testing/syntheticRun.ts';
import { makeUnreadable } from '../system/testing/unreadableFile.ts';
import { isRunSound, verifyRun } from './verifyRun.ts';
import { findLack, missingResults } from './wholeRun.ts';

let readAgain = (): void => undefined;
afterEach(() => {
  readAgain();
});
const CONTEXT = { storeHost: HOST_ENTRY };

async function finishedRun(): Promise<PreparedRun> {
  const run = await preparedRun([[recordOf('a', [1, 2, 3]), recordOf('b', [63])]], 2);
  await computeAll(run);
  const { files } = await run.store.writeTables();
  const others = [RESULT_FILES.viralSequences, RESULT_FILES.run, NOTICE_FILE].map((name) => {
    writeFileSync(join(run.folder, name), name);
    return [name, { bytes: name.length, sha256: createHash('sha256').update(name).digest('hex') }] as const;
  });
  await run.store.saveResultFiles({ ...files, ...Object.fromEntries(others) });
  await run.store.setState({ phase: 'done', failedParts: 0, failedRecords: 0 });
  await run.store.close();
  return run;
}

function edit(folder: string, sql: string): void {
  const db = new Database(join(folder, 'run.db'));
  db.exec(sql);
  db.close();
}

/** The problems found, except for the made-up inputs, which do not exist. */
async function amiss(folder: string): Promise<string[]> {
  const files = await verifyRun(CONTEXT, folder);
  const found = files.filter(({ kind, verdict }) => kind !== 'input' && verdict !== 'sound');
  expect(isRunSound(files)).toBe(found.length === 0);
  return found.map(
    ({ path, verdict, detail }) => `${path} ${verdict}${detail === null ? '' : `: ${detail}`}`,
  );
}

it('finds nothing if nothing is damaged, and names what is: a table, a score, a name, a result', async () => {
  const { folder } = await finishedRun();
  expect(await amiss(folder)).toEqual([]);
  const table = join(folder, RESULT_FILES.chunks);
  writeFileSync(table, readFileSync(table, 'utf8').replace('a', 'b'));
  rmSync(join(folder, RESULT_FILES.failedRecords));
  const results = join(folder, RESULT_FILES.results);
  const bytes = readFileSync(results);
  bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
  writeFileSync(results, bytes);
  appendFileSync(join(folder, NOTICE_FILE), ' ');
  expect(await amiss(folder)).toEqual([
    'chunks.tsv damaged: It is not the file that was written.',
    'results.parquet damaged: It is not the file that was written.',
    'failed_records.tsv missing',
    'NOT_FOR_RESEARCH.txt damaged: It is not the file that was written.',
  ]);
  for (const [sql, words] of [
    [
      `UPDATE chunk SET scores = zeroblob(length(scores)) WHERE row = 0 AND chunk = 1`,
      'Stored scores of 1 parts',
    ],
    [`UPDATE record SET name = 'c' WHERE row = 1`, 'Stored names or lengths'],
    [`UPDATE input SET path = '/data/others.fa'`, 'The plan stored in run.db'],
  ] as const) {
    const fresh = await finishedRun();
    edit(fresh.folder, sql);
    const [found, ...more] = await amiss(fresh.folder);
    expect(found).toContain(`run.db damaged: ${words}`);
    expect(more).toEqual([]);
  }
});

it('reports a file that its disk does not read as unreadable, and looks at all others', async () => {
  const { folder } = await finishedRun();
  rmSync(join(folder, RESULT_FILES.run));
  readAgain = makeUnreadable(join(folder, RESULT_FILES.chunks));
  expect(await amiss(folder)).toEqual([expect.stringMatching(/^chunks.tsv unreadable/), 'run.json missing']);
  const store = await openRunStore(folder, { hostEntry: HOST_ENTRY });
  await expect(findLack(store)).rejects.toMatchObject({ error: { code: 'folder_unreadable' } });
  await store.close();
});

it('finds what a finished run lacks: its scores first, then any of its files', async () => {
  const { folder } = await finishedRun();
  let store = await openRunStore(folder, { hostEntry: HOST_ENTRY });
  const { model } = (await store.loadRun()).plan;
  expect([await findLack(store), missingResults(folder, model)]).toEqual([null, []]);
  for (const name of [...Object.values(RESULT_FILES), NOTICE_FILE]) {
    const path = join(folder, name);
    const sound = readFileSync(path);
    appendFileSync(path, ' ');
    expect(await findLack(store)).toEqual({ what: 'result_files', found: [name] });
    rmSync(path);
    expect(await findLack(store)).toEqual({ what: 'result_files', found: [name] });
    expect(missingResults(folder, model)).toEqual([name]);
    const isText = TEXT_TABLES.some((table) => RESULT_FILES[table] === name);
    expect(missingResults(folder, model, { tables: 'parquet' })).toEqual(isText ? [] : [name]);
    writeFileSync(path, sound);
  }
  await store.close();
  edit(folder, 'UPDATE chunk SET scores = zeroblob(length(scores)) WHERE row = 0 AND chunk = 1');
  rmSync(join(folder, RESULT_FILES.chunks));
  store = await openRunStore(folder, { hostEntry: HOST_ENTRY });
  expect(await findLack(store)).toMatchObject({ what: 'scores' });
  await store.close();
});

it('also compares kept embeddings, unless they were deleted to save space', async () => {
  const { folder } = await finishedRun();
  const sha256 = createHash('sha256').update('vectors').digest('hex');
  edit(folder, `UPDATE part SET embeddings_sha256 = '${sha256}'`);
  const files = async () =>
    (await verifyRun(CONTEXT, folder)).filter(({ path }) => path.startsWith('work/embeddings'));
  expect(await files()).toEqual([]);
  mkdirSync(join(folder, 'work', 'embeddings'), { recursive: true });
  const store = await openRunStore(folder, { hostEntry: HOST_ENTRY, readOnly: true });
  const paths = (await store.embeddingFiles()).map(({ key }) => `work/embeddings/${key}.safetensors`);
  await store.close();
  for (const path of paths) writeFileSync(join(folder, path), 'vectors');
  expect(await files()).toMatchObject([{ path: 'work/embeddings', verdict: 'sound' }]);
  const [first = '', second = ''] = paths;
  writeFileSync(join(folder, first), 'vectorz');
  rmSync(join(folder, second));
  expect((await files()).map(({ path, verdict }) => [path, verdict])).toEqual([
    [first, 'damaged'],
    [second, 'missing'],
  ]);
});

it("does not mistake the user's changes to a run for damage", async () => {
  const { folder } = await finishedRun();
  const store = await openRunStore(folder, { hostEntry: HOST_ENTRY });
  await store.rename('Gut, March');
  await store.annotate({ note: 'Seen', tags: ['gut'] });
  await store.setSamples(['gut'], [{ group: 'water', note: null, control: true }]);
  await store.setGoal(null);
  await store.close();
  expect(await amiss(folder)).toEqual([]);
});

it('writes no tables from damaged scores, and recomputes them when the run is resumed', async () => {
  const run = await preparedRun([[recordOf('a', [1, 2, 3]), recordOf('b', [63])]], 2);
  await computeAll(run);
  await run.store.close();
  edit(run.folder, `UPDATE chunk SET scores = zeroblob(length(scores)) WHERE row = 0 AND chunk = 1`);
  edit(run.folder, `UPDATE record SET length = length + 1 WHERE row = 1`);
  const store = await openRunStore(run.folder, { hostEntry: HOST_ENTRY });
  await expect(store.writeTables()).rejects.toMatchObject({ error: { code: 'run_damaged' } });
  expect(await store.repairDamage()).toHaveLength(2);
  expect((await store.loadRun()).prepared).toBeNull();
  for (const file of run.prepared.records) expect(await store.ingestRecords(file)).toBe('new');
  for (const part of run.prepared.parts)
    expect(await store.registerPart(part)).toBe(part.key === '000000' ? 'new' : 'known');
  for (const input of run.prepared.inputs) await store.finishInput(input);
  await store.finishPrepare(run.prepared.done);
  await compute({ ...run, store }, '000000');
  await store.writeTables();
  await store.close();
  const undisturbed = await finishedRun();
  for (const name of [RESULT_FILES.sequences, RESULT_FILES.chunks, RESULT_FILES.originalFrames])
    expect(readFileSync(join(run.folder, name))).toEqual(readFileSync(join(undisturbed.folder, name)));
});

it('reads a part again if run.db and prepare disagree about it', async () => {
  const run = await preparedRun([[recordOf('a', [1, 2, 3]), recordOf('b', [63])]], 2);
  await run.store.close();
  edit(run.folder, `UPDATE part SET residues = residues + 1 WHERE key = '000000'`);
  const store = await openRunStore(run.folder, { hostEntry: HOST_ENTRY });
  expect(await store.repairDamage()).toEqual([expect.stringContaining('residues')]);
  expect((await store.loadRun()).prepared).toBeNull();
  const [first] = run.prepared.parts;
  expect(first && (await store.registerPart(first))).toBe('replaced');
  await store.close();
});
