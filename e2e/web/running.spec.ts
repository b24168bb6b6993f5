import { join } from 'node:path';
import { expect, openAnotherWindow, testWithPermits as test, type Places } from '../support/fixtures.ts';
import { writeSample } from '../support/inputs.ts';
import { finishedParts } from '../support/runDatabase.ts';
import { isProcessAlive } from '../../electron/engine/system/liveProcess.ts';
import { goTo, isDone, partsDone, runState, startRun } from '../support/window.ts';

/** The default folder is beside the input and has the name of the run. */
const runFolder = (places: Places) => join(places.files, 'contigs', 'Long run_NOT_FOR_RESEARCH');

test.beforeEach(async ({ places }) => {
  await writeSample(join(places.files, 'contigs', 'contigs.fasta'), 2);
});

test('pause frees the devices and keeps what is done; resume goes on; two windows see the same', async ({
  window,
  engine,
  browser,
  places,
  permits,
}) => {
  const other = await browser.newPage();
  await openAnotherWindow(other, engine);
  await goTo(other, 'Runs');
  await startRun(window, 'contigs', 'Long run');
  await other.getByRole('row', { name: /Long run/ }).click();

  await partsDone(window);
  await window.getByRole('button', { name: 'Pause' }).click();
  for (const page of [window, other])
    await expect(page.getByRole('button', { name: 'Continue', exact: true })).toBeVisible();
  expect(engine.workers()).toEqual([]);
  const kept = finishedParts(runFolder(places));
  expect(kept.length).toBeGreaterThan(0);

  await other.getByRole('tab', { name: 'Results' }).click();
  await expect(other.getByText('Provisional results')).toBeVisible();
  await expect(other.getByText(/sequences? read so far ha(s|ve) a result/)).toBeVisible();

  await other.getByRole('button', { name: 'Continue', exact: true }).click();
  for (const page of [window, other]) await expect(page.getByRole('button', { name: 'Pause' })).toBeVisible();
  await expect.poll(() => engine.workers().length).toBeGreaterThan(0);
  await other.close();
  await permits.lift();
  await isDone(window);
  // The parts are unchanged and were not computed again.
  expect(finishedParts(runFolder(places))).toEqual(expect.arrayContaining(kept));
});

test('a run rests once its goal is reached, and computes the rest on request', async ({
  window,
  engine,
  permits,
}) => {
  const stop = window.getByRole('combobox', { name: 'Stop when I know enough' });
  const minutes = window.getByRole('textbox', { name: 'Minutes' });
  const take = async (time: string) => {
    await minutes.fill(time);
    await minutes.press('Tab');
  };
  await startRun(window, 'contigs', 'Long run', async () => {
    await window.getByRole('button', { name: 'Change: Computing' }).click();
    await window.getByRole('button', { name: 'Advanced settings' }).click();
    await stop.click();
    await window.getByRole('option', { name: 'After a time' }).click();
    await take('30');
  });
  await partsDone(window);
  await take('0.001');
  // Before the run rests, its workers finish the parts that they have begun.
  const enough = window.getByText(/^Enough: the goal/);
  await expect(runState(window, 'Finishing current work …').or(enough).first()).toBeVisible();
  permits.give(8);
  await expect(enough).toBeVisible();
  expect(engine.workers()).toEqual([]);
  await permits.lift();
  await window.getByRole('button', { name: 'Compute the rest' }).click();
  await isDone(window);
});

test('a killed worker is reported in plain words and restarted; a device can be excluded', async ({
  window,
  engine,
}) => {
  await startRun(window, 'contigs', 'Long run');
  await partsDone(window);
  const [worker = 0] = engine.workers();
  process.kill(worker, 'SIGKILL');
  await expect(
    window.getByText(/Reason: It was killed, most often because the computer ran out of memory/).first(),
  ).toBeVisible();

  const rows = window.getByRole('region', { name: 'Devices' }).getByRole('row', { name: /^Processor \d/ });
  await expect(rows).toHaveCount(2);
  await window.getByRole('button', { name: 'Processors and GPUs' }).click();
  const first = window.getByRole('menuitemcheckbox').first();
  await first.click();
  await expect(rows.first().getByText('Excluded')).toBeVisible();
  await expect.poll(() => engine.workers().length).toBe(1);
  await first.click();
  await expect.poll(() => engine.workers().length).toBe(2);
});

test('the engine is killed: no worker stays, the window says so and catches up, and the run continues', async ({
  window,
  engine,
  startEngine,
  places,
  permits,
}) => {
  await startRun(window, 'contigs', 'Long run');
  // The window counts what the workers report, which is stored a moment later.
  await expect.poll(() => finishedParts(runFolder(places)).length, { timeout: 300_000 }).toBeGreaterThan(0);
  const stored = finishedParts(runFolder(places));
  const workers = engine.workers();
  expect(workers.length).toBeGreaterThan(0);
  await engine.kill();
  await expect(window.getByText('Connection to the program lost')).toBeVisible();
  await expect.poll(() => workers.filter(isProcessAlive)).toEqual([]);
  const kept = finishedParts(runFolder(places));
  expect(kept).toEqual(expect.arrayContaining(stored));

  const again = startEngine({ port: engine.port, env: permits.environment });
  await expect(window.getByText('This run was interrupted; continue?')).toBeVisible();
  await window.getByRole('button', { name: 'Continue', exact: true }).click();
  await expect(runState(window, 'Running')).toBeVisible();
  // The test above already follows a run to its end.
  permits.give(8);
  await expect.poll(() => finishedParts(runFolder(places)).length).toBeGreaterThan(kept.length);
  expect(finishedParts(runFolder(places))).toEqual(expect.arrayContaining(kept));
  await window.getByRole('button', { name: 'Pause' }).click();
  await expect(window.getByRole('button', { name: 'Continue', exact: true })).toBeVisible();
  await again.stop();
});
