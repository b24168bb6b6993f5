import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppFailure } from '../../contract/errors.ts';
import { RunLog } from '../run/runLog.ts';
import { writeViralSequences } from '../run/finish/viralSequences.ts';
import { deleteRunFiles, runFolderSize } from '../service/questions/folderContents.ts';
import { readLog } from '../service/questions/readLog.ts';
import { removeWork } from './runFolder.ts';
import { acquireRunLock } from './runLock.ts';
import { openRunStore } from './runStore.ts';
import type { RunStore } from './runStoreFace.ts';
import { migrate } from './sqlite/database.ts';
import { RUN_DATABASE } from './sqlite/runSchema.ts';
import {
  asVersion,
  HOSTILE_CASES,
  makeOutside,
  pictureOf,
  type HostileCase,
} from './testing/hostileFolders.ts';
import {
  compute,
  computeAll,
  HOST_ENTRY,
  newFolder,
  preparedRun,
  removeFolders,
} from './testing/storeFixture.ts';
import { recordOf } from './testing/syntheticRun.ts';

/** A case that takes longer is one that hangs. */
const HANGS_MS = 120_000;
const INPUTS = [
  [recordOf('a', [1, 2, 3]), recordOf('b', [63])],
  [recordOf('c', [4]), recordOf('d', [7, 8])],
];

let paused = '';
let finished = '';

beforeAll(async () => {
  for (const whole of [false, true]) {
    const run = await preparedRun(INPUTS, 2);
    mkdirSync(join(run.folder, 'logs'));
    for (const name of ['run.log', 'prepare.log']) writeFileSync(join(run.folder, 'logs', name), 'a line\n');
    if (whole) {
      await computeAll(run);
      await run.store.writeTables();
      await run.store.setState({ phase: 'done', failedParts: 0, failedRecords: 0 });
      for (const name of ['run.json', 'viral_sequences.fna']) writeFileSync(join(run.folder, name), '{}');
      finished = run.folder;
    } else {
      await compute(run, '000000');
      await run.store.setState({ phase: 'paused', error: null });
      paused = run.folder;
    }
    await run.store.close();
  }
});
afterAll(removeFolders);

const QUESTIONS: ((store: RunStore) => Promise<unknown>)[] = [
  (store) => store.loadRun(),
  (store) => store.verifyPendingParts(),
  (store) => store.pendingParts(),
  (store) => store.pageParts({ offset: 0, limit: 10 }),
  (store) => store.pageEvents(10),
  (store) => store.timings(),
  (store) => store.inputProgress(),
  (store) => store.chunksOf(0, 0, 10),
  (store) => store.findSequences({ filter: {} }, { by: 'row', descending: false }, 0, 10),
];
const CHANGES: typeof QUESTIONS = [
  (store) => store.splitPart('000001'),
  (store) => store.skipParts(['000000', '000001', '000002', '000003']),
  (store) => store.writeTables(),
  (store) =>
    writeViralSequences(store, [], ({ outPath }) => {
      expect(outPath).toBe(join(store.folder, 'viral_sequences.fna'));
      return Promise.resolve();
    }),
];

/** What an attempt ends with: a code in words of this program. Anything else would be a fault of its own. */
async function codeOf(attempt: () => unknown): Promise<string> {
  try {
    await attempt();
    return 'opened';
  } catch (error) {
    if (!(error instanceof AppFailure)) throw error;
    expect(error.error.code, error.error.detail).not.toBe('internal');
    return error.error.code;
  }
}

/** Everything that the program does with a folder, each tried although what came before may have been refused. */
async function lookAt(folder: string): Promise<string> {
  const code = await codeOf(async () => {
    const store = await openRunStore(folder, { hostEntry: HOST_ENTRY, readOnly: true });
    try {
      await store.loadRun();
      for (const question of QUESTIONS) await codeOf(() => question(store));
    } finally {
      await store.close();
    }
  });
  for (const log of [
    'logs/run.log',
    'logs/prepare.log',
    'logs/shadow',
    'logs/../run.db',
    '../outside/logs/shadow',
  ]) {
    await codeOf(() => {
      expect(readLog(folder, log, 10).text).not.toContain('not yours');
    });
  }
  await runFolderSize(folder);
  return code;
}

async function goOn(folder: string): Promise<string> {
  const code = await codeOf(async () => {
    const lock = await acquireRunLock(folder);
    try {
      const store = await openRunStore(folder, { hostEntry: HOST_ENTRY });
      try {
        await store.loadRun();
        for (const step of [...QUESTIONS, ...CHANGES]) await codeOf(() => step(store));
      } finally {
        await store.close();
      }
    } finally {
      lock.release();
    }
  });
  const log = new RunLog(folder);
  log.line('info', 'a line');
  await log.written();
  await codeOf(() => removeWork(folder, true));
  await codeOf(() => deleteRunFiles(folder, 'work'));
  await codeOf(() => deleteRunFiles(folder, 'all'));
  return code;
}

describe('a run folder from somebody else', { timeout: HANGS_MS }, () => {
  it('comes in at least 40 kinds', () => {
    expect(HOSTILE_CASES.length).toBeGreaterThan(40);
  });

  const unlessWindows = process.platform === 'win32' ? describe.skip : describe;
  unlessWindows.each(['paused', 'finished'] as const)('that holds a %s run', (kind) => {
    it.each(HOSTILE_CASES)('$name', async ({ make, resumed, lookedAt }: HostileCase) => {
      const parent = newFolder();
      const [folder, outside] = [join(parent, 'run'), join(parent, 'outside')];
      cpSync(kind === 'paused' ? paused : finished, folder, { recursive: true });
      makeOutside(outside);
      make(folder, outside);
      const before = pictureOf(outside);
      const codes = [await lookAt(folder), await goOn(folder)];
      expect(pictureOf(outside)).toEqual(before);
      expect(codes).toEqual([lookedAt, resumed]);
      rmSync(parent, { recursive: true });
    });
  });
});

describe.each([1, 2] as const)('a run folder of version %i', (version) => {
  const older = (): string => {
    const folder = join(newFolder(), 'run');
    cpSync(paused, folder, { recursive: true });
    asVersion(folder, version, (db) => {
      migrate(db, { ...RUN_DATABASE, migrations: RUN_DATABASE.migrations.slice(0, version) });
    });
    return folder;
  };

  it('is read as it is, and its parts are found once it is written to', async () => {
    const folder = older();
    const reader = await openRunStore(folder, { hostEntry: HOST_ENTRY, readOnly: true });
    expect((await reader.loadRun()).counts.parts).toMatchObject({ done: 1 });
    await reader.close();
    expect(readdirSync(join(folder, 'work'))).toContain('shards');

    const store = await openRunStore(folder, { hostEntry: HOST_ENTRY });
    expect(await store.verifyPendingParts()).toEqual([]);
    expect((await store.pendingParts()).length).toBeGreaterThan(0);
    await store.close();
    expect(readdirSync(join(folder, 'work'))).toContain('parts');
    expect(existsSync(join(folder, 'work', 'shards'))).toBe(false);
  });

  it.skipIf(process.platform === 'win32')('does not have the parts of another folder renamed', async () => {
    const folder = older();
    const outside = newFolder();
    makeOutside(outside);
    rmSync(join(folder, 'work'), { recursive: true });
    symlinkSync(outside, join(folder, 'work'));
    const before = pictureOf(outside);
    expect(await codeOf(() => openRunStore(folder, { hostEntry: HOST_ENTRY }))).toBe('folder_unsafe');
    expect(pictureOf(outside)).toEqual(before);
  });
});
