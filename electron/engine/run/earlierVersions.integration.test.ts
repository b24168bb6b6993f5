/** Runs that earlier versions of this program made open, show their results, and go on. Stored files: store/testing/earlierVersions. */
import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import type { SequenceSort } from '../../contract/rpc/results.ts';
import { float32Text } from '../results/float32Text.ts';
import { openLibraryStore } from '../store/libraryStore.ts';
import { openRunStore } from '../store/runStore.ts';
import type { RunStore } from '../store/runStoreFace.ts';
import { HOST_ENTRY } from '../store/testing/storeFixture.ts';
import { openRunWriter } from '../store/sqlite/runDatabase.ts';
import { RUN_DATABASE } from '../store/sqlite/runSchema.ts';
import { LIBRARY_DATABASE } from '../store/sqlite/libraryDatabase.ts';
import { temporaryFolder, testContext, WITHOUT_PYTHON } from '../testing/testContext.ts';
import { OpenRun } from './openRun.ts';

const STORED = join(import.meta.dirname, '..', 'store', 'testing', 'earlierVersions');
const RUN_VERSIONS = RUN_DATABASE.migrations.slice(1).map((_, index) => index + 1);
const LIBRARY_VERSIONS = LIBRARY_DATABASE.migrations.slice(1).map((_, index) => index + 1);
const ROUNDING = 1e-5;
const IN_ORDER: SequenceSort = { by: 'row', descending: false };

async function unpacked(version: number): Promise<string> {
  const folder = await temporaryFolder();
  await execa('tar', ['-xzf', `version-${version}.tar.gz`, '-C', folder], { cwd: STORED });
  return folder;
}

/** Name, score and call of each sequence, as the table of then has them. */
async function tableOf(folder: string): Promise<string[]> {
  const [header = '', ...lines] = (await readFile(join(folder, 'sequences.tsv'), 'utf8')).trim().split('\n');
  const columns = header.split('\t');
  return lines.map((line) => {
    const cells = line.split('\t');
    return ['seq_name', 'virus_score', 'prediction']
      .map((column) => cells[columns.indexOf(column)])
      .join(' ');
  });
}

/** The runs of then were computed on one kind of processor, and another one rounds differently. */
function asOnAnyProcessor(line: string): unknown {
  const [name, score, call] = line.split(' ');
  return expect.toSatisfy((now: string) => {
    const [itsName, itsScore, itsCall] = now.split(' ');
    const isNear = score === itsScore || Math.abs(Number(score) - Number(itsScore)) < ROUNDING;
    return name === itsName && isNear && call === itsCall;
  }, line);
}

async function resultsOf(store: RunStore): Promise<string[]> {
  const { items } = await store.findSequences({ filter: {} }, IN_ORDER, 0, 100);
  return items.map(({ seqName, virusScore, prediction }) =>
    [seqName, virusScore === null ? 'NA' : float32Text(virusScore), prediction].join(' '),
  );
}

it.each(RUN_VERSIONS)(
  'runs whose run.db has version %i open, and are brought up to date',
  async (version) => {
    const folder = await unpacked(version);
    const finished = join(folder, 'finished');
    const table = await tableOf(finished);
    expect(table).toHaveLength(12);
    const store = await openRunStore(finished, { hostEntry: HOST_ENTRY, readOnly: true });
    expect((await store.loadRun()).state.phase).toBe('done');
    expect(await resultsOf(store)).toEqual(table);
    await store.close();
    const { methods: done } = openRunWriter(finished, null);
    expect(done.wrongSequences()).toBe(0);
    expect(done.findDamage()).toMatchObject({ plan: false, counts: null, parts: [] });
    done.closeWriter();

    const paused = join(folder, 'paused');
    const { methods: run } = openRunWriter(paused, null);
    expect(run.loadRun().counts.parts).toMatchObject({ done: 1, pending: 2 });
    expect(run.verifyPendingParts()).toEqual([]);
    expect(run.pendingParts().every(({ path }) => existsSync(join(paused, path)))).toBe(true);
    run.closeWriter();
  },
);

describe.skipIf(WITHOUT_PYTHON)('a paused run of the first version', () => {
  it('is continued, and gives the scores of then', async () => {
    const folder = await unpacked(1);
    const run = await OpenRun.open(testContext(), join(folder, 'paused'));
    if (!run.ok) throw new Error(run.error.cause);
    const started = await run.value.start();
    expect(started.ok).toBe(true);
    expect((await run.value.whenIdle()).phase).toBe('done');
    await run.value.close();
    const then = await tableOf(join(folder, 'finished'));
    expect(await tableOf(run.value.folder)).toEqual(then.map((line) => asOnAnyProcessor(line)));
  });
});

it.each(LIBRARY_VERSIONS)('a list of runs of version %i keeps its runs and settings', async (version) => {
  const library = await openLibraryStore(join(await unpacked(version), 'library.db'), {
    hostEntry: HOST_ENTRY,
  });
  expect(await library.setting('theme')).toBe('dark');
  expect(await library.history()).toMatchObject([
    {
      runId: 'run-of-then',
      name: 'Run of then',
      phase: 'done',
      notes: 'as it was',
      summary: { options: { residuesPerPart: 8000 }, counts: { failedParts: 1 } },
    },
  ]);
  expect(
    await library.learntBatch({ deviceUuid: 'cpu:0', modelHash: 'f'.repeat(64), precision: 'fp32' }),
  ).toMatchObject({ tokensPerBatch: 256 });
  await library.close();
});
