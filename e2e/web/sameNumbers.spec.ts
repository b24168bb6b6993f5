/** What one run shows of the same quantity wherever it is shown: electron/cli/sameNumbers.test.ts compares what the engine answers. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ended, succeeds, virnucpro } from '../../electron/cli/testing/commandLineProcess.ts';
import { createFormats } from '../../electron/contract/format.ts';
import type { SamplesFound } from '../../electron/contract/rpc/results.ts';
import type { RunProgress } from '../../electron/contract/rpc/runs.ts';
import type { RunState } from '../../electron/contract/runState.ts';
import { REAL_PYTHON, SAMPLE } from '../../electron/engine/testing/realFiles.ts';
import { expect, openAnotherWindow, test } from '../support/fixtures.ts';
import { goTo } from '../support/window.ts';

const EXAMPLE = join(import.meta.dirname, '..', '..', 'resources', 'example.fa');

interface Status {
  state: RunState & { phase: 'done' };
  found: SamplesFound;
  progress: RunProgress;
}

test('terminal, status, report and every screen say the same of a run that left a file out', async ({
  page,
  places,
  startEngine,
}) => {
  const [broken, run, report] = ['words.fa', 'Same numbers', 'report.html'].map((name) =>
    join(places.files, name),
  ) as [string, string, string];
  await writeFile(broken, 'no sequences\n');
  const limits = { env: { VIRNUCPRO_DATA_DIR: places.data } };
  const words = [
    'predict',
    EXAMPLE,
    SAMPLE,
    broken,
    '--model',
    'teaching',
    '-o',
    run,
    '--python',
    REAL_PYTHON,
  ];
  const { code, output } = await ended(virnucpro(words, limits));
  expect(code, output).toBe(2);
  await succeeds(['export', run, '--format', 'report', '-o', report], limits);
  const { state, found, progress } = JSON.parse(await succeeds(['status', run, '--json'], limits)) as Status;

  const { virus, others, not_scored: notScored } = found.all.byPrediction;
  const time = createFormats('en-US').duration(progress.elapsedSeconds);
  const shareOf = (calls: { virus: number; others: number }): string =>
    `${((100 * calls.virus) / (calls.virus + calls.others)).toFixed(1)}%`;
  const share = shareOf(found.all.byPrediction);
  expect(state.failedInputs).toBe(1);
  expect(found.items).toHaveLength(2);

  expect(output).toContain(
    `Done in ${time}: ${virus} sequences called virus, ${others} others, ${notScored} not scored`,
  );
  expect(output).toContain('1 file could not be used');
  const status = await succeeds(['status', run], limits);
  expect(status).toContain(`elapsed ${time}`);
  expect(status.replaceAll(' %', '%')).toContain(
    `called virus: ${virus} of ${virus + others} sequences with a call, ${share}`,
  );

  const text = (await readFile(report, 'utf8')).replaceAll(/\s+/g, ' ');
  expect(text).toContain('1 of 3 files could not be used');
  expect(text).toMatch(new RegExp(`Computing time</dt> ?<dd>${time}<`));

  await openAnotherWindow(page, startEngine());
  await goTo(page, 'Runs');
  const listed = page.getByRole('row', { name: /Same numbers/ });
  // The list of runs keeps counts of the teaching model away from those of real models.
  await page.setViewportSize({ width: 1600, height: 900 });
  await expect(listed).toContainText(time);
  await listed.click();
  const main = page.getByRole('main');
  await expect(page.getByText(`${virus} of ${virus + others} look viral`)).toBeVisible();
  await expect(main.getByRole('link', { name: '1 file left out' })).toBeVisible();
  await main.getByRole('tab', { name: 'Results' }).click();
  await expect(page.getByRole('group', { name: 'Calls' }).getByRole('button')).toContainText([
    new RegExp(`^${virus} .*${share}$`),
    new RegExp(`^${others} `),
    new RegExp(`^${notScored} `),
  ]);
  await main.getByRole('tab', { name: 'Samples' }).click();
  for (const { sample, sequences, byPrediction } of found.items) {
    const cells = main.getByRole('row', { name: sample }).getByRole('cell');
    const counts = [sequences, byPrediction.virus, byPrediction.others, byPrediction.not_scored];
    await expect(cells).toContainText(counts.map(String));
    await expect(cells.last()).toHaveText(shareOf(byPrediction));
  }
  await main.getByRole('tab', { name: 'How it ran' }).click();
  await expect(main.getByText('Computing time', { exact: true }).locator('..')).toContainText(time);
});
