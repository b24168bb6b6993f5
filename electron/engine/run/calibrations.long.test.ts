import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { unwrap } from '../../contract/errors.ts';
import { RESULT_FILES } from '../../contract/results.ts';
import { temporaryFolder, testContext, WITHOUT_PYTHON } from '../testing/testContext.ts';
import { lastCalibration } from './goal.ts';
import { isMadeHere } from './madeHere.ts';
import { OpenRun } from './openRun.ts';
import { makeRun, openSequences, runJsonOf } from './testing/realRuns.ts';

const PRECISE = /^\d(\.\d+)?(e-\d+)?$/;

async function done(run: OpenRun): Promise<string> {
  unwrap(await run.start());
  expect((await run.whenIdle()).phase).toBe('done');
  await run.close();
  return run.folder;
}

it.skipIf(WITHOUT_PYTHON)(
  "stores an ordinary run's scores for two files with known answers, from which later runs compute p-values",
  async () => {
    const folder = temporaryFolder();
    const [viral, other] = [join(folder, 'viral.fa'), join(folder, 'other.fa')];
    await writeFile(viral, openSequences(12, 1));
    await writeFile(other, openSequences(25, 2));
    const own = testContext();
    const context = { ...own, paths: { ...own.paths, dataDir: folder, usualDataDir: folder } };
    const made = await makeRun(context, { inputs: [viral, other], calibrates: true });
    const { plan, description } = made.record.stored;
    await made.close();
    // A folder from somebody else must not decide what this user's later runs are compared with.
    const passedOn = join(folder, 'passed on');
    await cp(made.folder, passedOn, { recursive: true });
    expect(isMadeHere(context.paths, passedOn, description)).toBe(false);
    const claimed = { ...description, options: structuredClone(description.options) };
    delete (claimed.options['request'] as { calibrates?: boolean }).calibrates;
    expect(isMadeHere(context.paths, made.folder, description)).toBe(true);
    expect(isMadeHere(context.paths, made.folder, claimed)).toBe(false);
    await done(unwrap(await OpenRun.open(context, passedOn)));
    expect(await lastCalibration(context.paths, plan.model.hash)).toBeNull();

    await done(unwrap(await OpenRun.open(context, made.folder)));
    const kept = await lastCalibration(context.paths, plan.model.hash);
    expect(kept).toMatchObject({ viralFile: 'viral.fa', otherFile: 'other.fa', chunkLength: 500 });
    const medium = kept?.classes.find(({ from }) => from === 500);
    expect([medium?.viral.scored, medium?.other.scored]).toEqual([12, 25]);

    const cells = async (run: string) => {
      const [head = '', ...lines] = (await readFile(join(run, RESULT_FILES.sequences), 'utf8'))
        .trimEnd()
        .split('\n');
      const names = head.split('\t');
      return lines.map((line) => {
        const values = line.split('\t');
        return { score: Number(values[names.indexOf('virus_score')]), p: values[names.indexOf('p_value')] };
      });
    };
    const trusted = (await cells(made.folder)).slice(12).map(({ score }) => score);
    const compared = await done(await makeRun(context, { inputs: [viral] }));
    const asked = await cells(compared);
    expect(asked).toHaveLength(12);
    for (const { score, p } of asked) {
      expect(p).toMatch(PRECISE);
      const wanted = (1 + trusted.filter((one) => one >= score).length) / 26;
      expect(Math.fround(Number(p))).toBe(Math.fround(wanted));
    }
    expect(await runJsonOf({ folder: compared })).toMatchObject({
      plan: { p_values_against: { file: 'other.fa', calibrated_at: kept?.calibratedAt } },
    });
    // Chunks of another length have their own scores.
    const elsewhere = await cells(await done(await makeRun(context, { inputs: [viral], chunkLength: 300 })));
    expect(elsewhere[0]?.p).toBeUndefined();
  },
);

it('requires two different files', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'one.fa');
  await writeFile(file, openSequences(1, 1));
  await expect(makeRun(testContext(), { inputs: [file, file], calibrates: true })).rejects.toThrow(
    'two different files',
  );
});
