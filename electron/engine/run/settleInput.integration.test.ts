import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allowRefusal, unwrap } from '../../contract/errors.ts';
import { RESULT_FILES } from '../../contract/results.ts';
import { readTables, temporaryFolder, testContext, WITHOUT_PYTHON } from '../testing/testContext.ts';
import { OpenRun } from './openRun.ts';
import { callsOf, makeRun, openSequences, predict } from './testing/realRuns.ts';

/** Sequences of one chunk each. */
const contigs = (count: number, seed: number) => openSequences(count, seed, 166);
const RESIDUES_OF_CONTIG = 6 * 166;
/** Two contigs a part, so that a run of all files from the beginning has the same parts. */
const PARTS = { residuesPerPart: 4 * 2 * RESIDUES_OF_CONTIG };
const DONE = { phase: 'done', failedParts: 0, failedRecords: 0 } as const;

const GOOD = contigs(8, 1);
const MENDED = contigs(6, 2).replaceAll('C', 'T').replaceAll('A', 'C');

async function files(): Promise<{ good: string; bad: string; mended: string }> {
  const folder = temporaryFolder();
  await mkdir(join(folder, 'mended'));
  const [good, bad, mended] = [
    join(folder, 'good.fa'),
    join(folder, 'bad.fa'),
    join(folder, 'mended/bad.fa'),
  ];
  await writeFile(good, GOOD);
  await writeFile(mended, MENDED);
  return { good, bad, mended };
}

const partsOf = async (run: OpenRun) =>
  (await run.record.store.partsIn('done')).map(({ key, sha256, attempts, seconds, state }) => ({
    ...{ key, sha256, attempts, seconds, state },
  }));

describe.skipIf(WITHOUT_PYTHON)('a file that a run went on without', () => {
  it.each(['file', 'sample'] as const)(
    'is mended, added and alone computed, with a killed worker and a restart, as if it had been there from the beginning (order: %s)',
    async (order) => {
      const { good, bad, mended } = await files();
      await writeFile(bad, MENDED.replaceAll('T', 'U'));
      const marker = join(temporaryFolder(), 'died');
      const request = { ...PARTS, order, inputs: [bad, good] as [string, string] };
      const first = await makeRun(testContext(), request);
      unwrap(await first.start());
      expect(await first.whenIdle()).toEqual({ ...DONE, failedInputs: 1 });
      const before = await partsOf(first);
      // As it is, it is refused again, and nothing changes.
      expect(await first.settleInput(bad, bad)).toMatchObject({ error: { code: 'looks_like_rna' } });
      expect(await first.settleInput(bad, good)).toMatchObject({ error: { code: 'usage' } });
      expect(first.record.state).toEqual({ ...DONE, failedInputs: 1 });
      // A start at the same moment waits until the file is among its inputs.
      const answered: string[] = [];
      await Promise.all([
        first
          .settleInput(bad, bad, ['read_u_as_t'])
          .then(unwrap)
          .then(() => answered.push('settled')),
        first
          .start({ preparesOnly: true })
          .then(unwrap)
          .then(() => answered.push('started')),
      ]);
      expect(answered).toEqual(['settled', 'started']);
      allowRefusal(await first.stopNow());
      await first.close();

      const context = testContext({ fault: `die_once:${marker}` });
      const second = unwrap(await OpenRun.open(context, first.folder));
      expect(second.interrupted).toBe(false);
      unwrap(await second.start());
      await expect
        .poll(() => second.progress().parts.done, { interval: 10, timeout: 60_000 })
        .toBeGreaterThan(before.length);
      // It may be writing its results already.
      allowRefusal(await second.stopNow());
      await second.close();

      const third = unwrap(await OpenRun.open(testContext(), first.folder));
      if (third.record.state.phase !== 'done') unwrap(await third.start());
      expect(await third.whenIdle()).toEqual(DONE);
      const after = await partsOf(third);
      expect(after.slice(0, before.length)).toEqual(before);
      expect(after.length).toBeGreaterThan(before.length);
      await third.close();
      const whole = await predict(testContext(), { ...request, inputs: [good, mended] });
      const tables = await readTables(first.folder);
      if (order === 'file') expect(tables).toEqual(whole.tables);
      else expect(callsOf(tables)).toEqual(callsOf(whole.tables));
    },
  );

  it('is replaced also if it changed while the run was read, with its sample', async () => {
    const { good, bad, mended } = await files();
    await writeFile(bad, contigs(6, 3));
    const run = await makeRun(testContext(), { ...PARTS, inputs: [bad, good], samples: { [bad]: 'Pond' } });
    await writeFile(bad, MENDED);
    unwrap(await run.start());
    expect(await run.whenIdle()).toEqual({ ...DONE, failedInputs: 1 });
    unwrap(await run.settleInput(bad, mended));
    unwrap(await run.start());
    expect(await run.whenIdle()).toEqual(DONE);
    expect(run.record.stored.description.options.samples).toEqual(['Pond', 'good', 'Pond']);
    await run.close();
    const whole = await predict(testContext(), { ...PARTS, inputs: [good, mended] });
    expect(await readTables(run.folder)).toEqual(
      Object.fromEntries(
        Object.entries(whole.tables).map(([name, table]) => [
          name,
          // The file that is replaced has the same name, so that the other is told apart by its folder.
          table.replaceAll('\tbad.fa\t', '\tmended/bad.fa\t'),
        ]),
      ),
    );
  });

  it('stays left out as the user wants, which the list of failures says and the state does not', async () => {
    const { good, bad } = await files();
    await writeFile(bad, '>p\nMKLVERTIPQWDFGHASNLLKEEVYRPQGHWWTDSAAKLMFFE\n');
    const run = await makeRun(testContext(), { ...PARTS, inputs: [bad, good] });
    unwrap(await run.start());
    expect(await run.whenIdle()).toEqual({ ...DONE, failedInputs: 1 });
    const before = await readTables(run.folder);
    unwrap(await run.settleInput(bad, null));
    unwrap(await run.start());
    expect(await run.whenIdle()).toEqual(DONE);
    await run.close();
    expect(await readTables(run.folder)).toEqual(before);
    expect(before[RESULT_FILES.failedFiles]).toContain('bad.fa|inspection|');
  });
});
