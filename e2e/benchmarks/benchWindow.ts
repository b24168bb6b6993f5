/**
 * `npm run bench -- window`: measures how much work the window causes in Chromium. The built window talks over
 * the real transport of browser mode to an engine with invented contents, because the page is what is
 * measured: eight devices with four snapshots a second, a table of 100,000 rows, and switches between
 * screens. After that come the engine's answers about ten million sequences.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { RUN_IDS } from '../../renderer/testing/memoryEngine/runs.ts';
import { serveMemoryEngine } from '../../renderer/testing/serve.ts';
import { buildWindow } from '../../build/buildWindow.ts';
import { findChromium, WITH_A_SCREEN } from '../support/findChromium.ts';

const ROWS = 100_000;
const DEVICES = 8;
const SNAPSHOTS_PER_SECOND = 4;
const CPU_SECONDS = 60;
const SWITCH_ROUNDS = 5;
const LIMITS = { cpuPercent: 10, taskMs: 50, frameMs: 8, switchMs: 100 } as const;
/** The height of ten thousand rows; a table that scrolled less did not have the pointer over it. */
const FAR_PX = 380_000;
/** Times of Chromium that exclude each other. */
const SCRIPT_AND_LAYOUT = ['ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration'];

// Code for the page; it is text, since scripts of Node have no types for documents.
const NEXT_FRAME = 'new Promise(requestAnimationFrame)';
/** Chromium reports tasks over 50 ms. */
const WATCH_TASKS = `globalThis.longestTask = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longestTask = Math.max(longestTask, duration);
  }).observe({ type: 'longtask' });`;
/** Navigates like a click on a link of the navigation, and returns the milliseconds until the screen is painted. */
const switchTo = (hash: string) => `(async () => {
  const heading = document.querySelector('h1');
  const begun = performance.now();
  const link = document.querySelector('a[href="${hash}"]');
  if (link) link.click();
  else location.hash = '${hash}';
  while (document.querySelector('h1') === heading) await ${NEXT_FRAME};
  // The frame after the one in which it came into being has it on the screen.
  await ${NEXT_FRAME};
  return performance.now() - begun;
})()`;

const say = (line: string) => process.stdout.write(`${line}\n`);
function report(what: string, value: number, limit: number, unit: string): void {
  const isMet = value <= limit;
  if (!isMet) process.exitCode = 1;
  say(`${isMet ? 'ok    ' : 'MISSED'} ${what}: ${value.toFixed(1)} ${unit} (limit ${limit} ${unit})`);
}
const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;

const executablePath = findChromium(WITH_A_SCREEN);
if (executablePath === undefined) {
  say('No Chromium found: install one, or set CHROMIUM_PATH.');
  process.exit(1);
}
await buildWindow();
const engine = await serveMemoryEngine({
  sequences: ROWS,
  devices: DEVICES,
  snapshotsPerSecond: SNAPSHOTS_PER_SECOND,
});
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
const session = await page.context().newCDPSession(page);
try {
  await session.send('Performance.enable');
  say(`Chromium ${browser.version()}, window 1440 × 900, engine of invented contents over WebSocket`);
  await measureDashboard();
  await measureTable();
  await measureSwitching();
} finally {
  await browser.close();
  await engine.stop();
}
const QUERIES = join(import.meta.dirname, '../../electron/engine/store/testing/benchResults.ts');
const { status } = spawnSync(process.execPath, [QUERIES], { stdio: 'inherit' });
if (status !== 0) process.exitCode = 1;

/** Milliseconds that the page has spent with all of these together, as Chromium counts them. */
async function spent(...names: readonly string[]): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.reduce((sum, { name, value }) => (names.includes(name) ? sum + 1000 * value : sum), 0);
}

async function measureDashboard(): Promise<void> {
  await page.goto(`${engine.url}#/run/${RUN_IDS.running}/progress`);
  await page.getByText('GPU 7').first().waitFor();
  await page.waitForTimeout(5000);
  const [begun, before] = [performance.now(), await spent('ProcessTime')];
  await page.waitForTimeout(CPU_SECONDS * 1000);
  const busy = (await spent('ProcessTime')) - before;
  report(
    `dashboard, ${DEVICES} devices at ${SNAPSHOTS_PER_SECOND} snapshots/s over ${CPU_SECONDS} s, processor time`,
    (100 * busy) / (performance.now() - begun),
    LIMITS.cpuPercent,
    '% of one core',
  );
}

/** Flings the table down and up again with the wheel, as fast as frames come. */
async function measureTable(): Promise<void> {
  await page.goto(`${engine.url}#/run/${RUN_IDS.done}/results`);
  await page.getByText('100,000 sequences shown').waitFor();
  await page.waitForTimeout(1500);
  await page.evaluate(WATCH_TASKS);
  const grid = page.getByRole('grid', { name: 'Sequences' });
  await grid.hover();
  const frames: number[] = [];
  let farthest = 0;
  for (const distance of [120, 900, 6000, -6000, -900]) {
    for (let step = 0; step < 60; step++) {
      const before = await spent(...SCRIPT_AND_LAYOUT);
      await page.mouse.wheel(0, distance);
      await page.evaluate(NEXT_FRAME);
      frames.push((await spent(...SCRIPT_AND_LAYOUT)) - before);
    }
    farthest = Math.max(farthest, await grid.evaluate((node: { scrollTop: number }) => node.scrollTop));
  }
  if (farthest < FAR_PX) throw new Error(`The table was scrolled no farther than ${farthest} px`);
  const what = `table of ${ROWS.toLocaleString('en')} rows, scrolled down and up`;
  report(
    `${what}, longest task over ${LIMITS.taskMs} ms`,
    await page.evaluate<number>('longestTask'),
    LIMITS.taskMs,
    'ms',
  );
  report(
    `${what}, script and layout per frame (95th percentile)`,
    percentile(frames, 0.95),
    LIMITS.frameMs,
    'ms',
  );
}

async function measureSwitching(): Promise<void> {
  const places = [
    '#/new-run',
    '#/runs',
    `#/run/${RUN_IDS.running}/progress`,
    `#/run/${RUN_IDS.done}/results`,
    '#/computer',
    '#/settings',
    '#/help',
  ];
  await page.goto(`${engine.url}#/help`);
  await page.getByRole('heading', { name: 'Help' }).waitFor();
  const times: number[] = [];
  for (const hash of Array.from({ length: SWITCH_ROUNDS }, () => places).flat()) {
    times.push(await page.evaluate<number>(switchTo(hash)));
    await page.waitForTimeout(400);
  }
  report(`switching screens, slowest of ${times.length}`, Math.max(...times), LIMITS.switchMs, 'ms');
  say(`       median ${percentile(times, 0.5).toFixed(1)} ms`);
}
