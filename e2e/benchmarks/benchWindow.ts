/**
 * `npm run bench -- window`: measures how much work the window causes in Chromium. The built window talks over
 * the real transport of browser mode to an engine with invented contents, because the page is what is
 * measured: eight devices with four snapshots a second, a table of 100,000 rows, and switches between
 * screens. After that come the engine's answers about ten million sequences.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from '@playwright/test';
import { RUN_IDS } from '../../renderer/testing/memoryEngine/runs.ts';
import { serveMemoryEngine } from '../../renderer/testing/serve.ts';
import { buildWindow } from '../../build/buildWindow.ts';
import { findChromiumWithScreen } from '../support/findChromium.ts';
import { cpuShare, scrollFigures, switchFigures, type ScrollFigures } from './measure.ts';
import { percentile } from './trace.ts';

const ROWS = 100_000;
const DEVICES = 8;
const SNAPSHOTS_PER_SECOND = 4;
const CPU_SECONDS = 60;
const SCROLL_ROUNDS = 3;
const LIMITS = { cpu: 0.1, taskMs: 50, frameMs: 8, switchMs: 100 } as const;

const say = (line: string) => process.stdout.write(`${line}\n`);
const milliseconds = (value: number) => `${value.toFixed(1)} ms`;
const percent = (value: number) => `${(value * 100).toFixed(1)} % of one core`;
let missed = 0;
function report(what: string, figure: string, limit: string, met: boolean): void {
  if (!met) missed += 1;
  say(`${met ? 'ok    ' : 'MISSED'} ${what}: ${figure} (limit ${limit})`);
}

const executablePath = findChromiumWithScreen();
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
try {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  say(`Chromium ${browser.version()}, window 1440 × 900, engine of invented contents over WebSocket`);
  await measureDashboard(browser, page);
  await measureTable(browser, page);
  await measureSwitching(page);
} finally {
  await browser.close();
  await engine.stop();
}
const QUERIES = join(import.meta.dirname, '../../electron/engine/store/testing/benchResults.ts');
const { status } = spawnSync(process.execPath, [QUERIES], { stdio: 'inherit' });
process.exitCode = missed > 0 ? 1 : (status ?? 1);

async function measureDashboard(measured: Browser, page: Page): Promise<void> {
  await page.goto(`${engine.url}#/run/${RUN_IDS.running}/progress`);
  await page.getByText('Part 2').first().waitFor();
  await page.waitForTimeout(5000);
  const { page: share, painting } = await cpuShare(measured, CPU_SECONDS, () =>
    page.waitForTimeout(CPU_SECONDS * 1000 + 100),
  );
  report(
    `dashboard, ${DEVICES} devices at ${SNAPSHOTS_PER_SECOND} snapshots/s over ${CPU_SECONDS} s`,
    percent(share),
    percent(LIMITS.cpu),
    share <= LIMITS.cpu,
  );
  say(`       besides, the process that paints: ${percent(painting)}`);
}

async function measureTable(measured: Browser, page: Page): Promise<void> {
  await page.goto(`${engine.url}#/run/${RUN_IDS.done}/results`);
  await page.getByText('100,000 sequences shown').waitFor();
  const rounds: ScrollFigures[] = [];
  for (let round = 0; round < SCROLL_ROUNDS; round++) {
    await page.waitForTimeout(1500);
    rounds.push(await scrollFigures(measured, page, 'Sequences'));
  }
  const frames = rounds.reduce((sum, round) => sum + round.frames, 0);
  const what = `table of ${ROWS.toLocaleString('en')} rows, ${SCROLL_ROUNDS} × scrolled down and up, ${frames} frames`;
  const longest = Math.max(...rounds.map((round) => round.longestTaskMs));
  report(
    `${what}, longest task of all`,
    milliseconds(longest),
    milliseconds(LIMITS.taskMs),
    longest <= LIMITS.taskMs,
  );
  const median = (figure: (round: ScrollFigures) => number) => percentile(rounds.map(figure), 0.5);
  const work = median((round) => round.frameWorkP95Ms);
  report(
    `${what}, script and layout per frame (95th percentile; median of the rounds)`,
    milliseconds(work),
    milliseconds(LIMITS.frameMs),
    work <= LIMITS.frameMs,
  );
  say(`       of it processor time: ${milliseconds(median((round) => round.frameProcessorP95Ms))}`);
}

async function measureSwitching(page: Page): Promise<void> {
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
  const figures = await switchFigures(page, places, 5);
  report(
    `switching screens, slowest of ${places.length * 5} (${figures.slowest.split('/')[1] ?? ''})`,
    milliseconds(figures.slowestMs),
    milliseconds(LIMITS.switchMs),
    figures.slowestMs <= LIMITS.switchMs,
  );
  say(`       median ${milliseconds(figures.medianMs)}`);
}
