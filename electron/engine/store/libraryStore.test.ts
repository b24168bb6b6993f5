import { closeSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { openLibraryStore } from './storeThread.ts';
import { HOST_ENTRY } from './testing/storeFixture.ts';
import type { HistoryEntry } from './types.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';
function entry(runId: string, note = ''): HistoryEntry {
  const inputs = ['/data/a.fasta', '/data/b.fastq.gz'];
  return { runId, folder: `/runs/${runId}`, inputs, summary: { note } };
}

it('keeps settings, history and learnt batch sizes, for two programs at once', async () => {
  const path = join(temporaryFolder(), 'new', 'library.db');
  const library = await openLibraryStore(path, { hostEntry: HOST_ENTRY });
  const second = await openLibraryStore(path, { hostEntry: HOST_ENTRY });
  if (process.platform !== 'win32') {
    for (const [name, mode] of [
      ['', 0o700],
      ['library.db', 0o600],
      ['library.db-wal', 0o600],
    ] as const)
      // prettier-ignore
      expect([name, statSync(join(dirname(path), name)).mode & 0o777]).toEqual([name, mode]);
  }
  await library.setSetting('theme', 'dark');
  await library.setSetting('devices', { chosen: ['GPU-1'], limit: 2 });
  await library.setSetting('gone', 1);
  await library.setSetting('gone', undefined);
  expect(await second.setting('theme')).toBe('dark');
  expect(await second.setting('devices')).toEqual({ chosen: ['GPU-1'], limit: 2 });
  expect(await second.setting('gone')).toBeUndefined();

  await library.saveRun(entry('one'));
  await second.saveRun(entry('two'));
  await library.saveRun(entry('one', 'again with 500'));
  for (const either of [library, second])
    expect(await either.history()).toEqual([entry('one', 'again with 500'), entry('two')]);
  await library.removeRun('two');

  const batch = { deviceUuid: 'GPU-1', modelHash: 'f'.repeat(64), precision: 'bf16' };
  const profile = {
    placement: 'streamed',
    fixed_bytes: 6e8,
    bytes_per_token: 107_000,
    code: 'PyTorch 2.13',
  } as const;
  expect(await library.learntBatch(batch)).toBeNull();
  await library.saveLearntBatch({ ...batch, tokensPerBatch: 32_768, profile: null });
  await library.saveLearntBatch({ ...batch, tokensPerBatch: 16_384, profile });
  await library.saveLearntBatch({ ...batch, deviceUuid: 'cpu:0', tokensPerBatch: 256, profile: null });
  await library.close();
  await second.close();

  const reopened = await openLibraryStore(path, { hostEntry: HOST_ENTRY });
  expect(await reopened.learntBatch(batch)).toEqual({ ...batch, tokensPerBatch: 16_384, profile });
  expect(await reopened.learntBatch({ ...batch, deviceUuid: 'cpu:0' })).toMatchObject({
    tokensPerBatch: 256,
    profile: null,
  });
  expect(await reopened.learntBatch({ ...batch, precision: 'fp16' })).toBeNull();
  expect(await reopened.history()).toHaveLength(1);
  await reopened.close();
  await expect(reopened.setting('theme')).rejects.toThrow('closed');
});

it('is set aside if it is damaged, at its beginning or deep inside, and starts empty', async () => {
  for (const offset of [0, 3 * 4096]) {
    const folder = temporaryFolder();
    const path = join(folder, 'library.db');
    const before = await openLibraryStore(path, { hostEntry: HOST_ENTRY });
    for (let run = 0; run < 200; run++) await before.saveRun(entry(`run ${run}`));
    await before.close();
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.alloc(4 * 4096, 0x55), 0, null, offset);
    closeSync(file);
    const damaged = readFileSync(path);

    const library = await openLibraryStore(path, { hostEntry: HOST_ENTRY });
    expect(await library.history()).toEqual([]);
    await library.saveRun(entry('new'));
    await library.close();
    const kept = readdirSync(folder).filter((name) => name.startsWith('library.db.damaged-'));
    expect(kept).toHaveLength(1);
    expect(readFileSync(join(folder, kept[0] ?? ''))).toEqual(damaged);
  }
});
