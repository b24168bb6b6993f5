import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unwrap } from '../../contract/errors.ts';
import { PROVISIONAL_TABLE } from '../../contract/results.ts';
import { ExportSource } from '../exports/exportSource.ts';
import { reportFacts } from '../exports/report/reportFacts.ts';
import { readTables, testContext, WITHOUT_PYTHON } from '../testing/testContext.ts';
import { callsOf, makeRun, predict, undisturbed } from './testing/realRuns.ts';

describe.skipIf(WITHOUT_PYTHON)('a run with a goal', () => {
  it('stops where its samples are known as well as asked, as a sample that grows, which ends as in any other way', async () => {
    const many = { order: 'sample', residuesPerPart: 300 } as const;
    const whole = await predict(testContext(), many);
    const session = await makeRun(testContext(), { ...many, until: { kind: 'half_width', share: 0.45 } });
    unwrap(await session.start());
    expect(await session.whenIdle()).toMatchObject({ phase: 'paused', enough: { kind: 'half_width' } });
    const { enough } = await reportFacts(
      await ExportSource.open(
        session.record.store,
        { filter: {} },
        { by: 'row', descending: false },
        { language: 'en' },
      ),
    );
    expect(enough?.shares.samples.map(({ estimate }) => estimate !== null)).toEqual([true]);
    expect(enough?.settled).toBeGreaterThan(0);
    const { done, total } = session.progress().parts;
    expect(done).toBeLessThan(total);
    expect(await readFile(join(session.folder, PROVISIONAL_TABLE), 'utf8')).toMatch(/^no\t/);
    unwrap(await session.start());
    expect(await session.whenIdle()).toMatchObject({ phase: 'done', failedParts: 0 });
    await session.close();
    expect(await readTables(session.folder)).toEqual(whole.tables);
    expect(callsOf(whole.tables)).toEqual(callsOf((await undisturbed()).tables));
  });
});
