/**
 * `npm run bench:results-window -- [sequences] [--run FOLDER] [--json FILE]`: the Results tab in Chromium over a run of that many
 * sequences (a million unless said), through the engine and the run.db that users have: opening, ordering, filtering, and frames per
 * second while the table is scrolled. The run is that of `npm run bench:results`; a folder given is made once and kept.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium, type CDPSession, type Locator, type Page } from '@playwright/test';
import { buildWindow } from '../../build/buildWindow.ts';
import { EngineProcess } from '../support/engineProcess.ts';
import { findChromium } from '../support/findChromium.ts';
import { scrollFigures } from './measure.ts';
import { measuringComputer } from '../../electron/engine/testing/measuringComputer.ts';
import { frameFigures, percentile, type FrameFigures } from './trace.ts';

const MAKE_RUN = fileURLToPath(
  new URL('../../electron/engine/store/benchmarks/benchResults.ts', import.meta.url),
);
const SCREEN = { width: 1440, height: 900 };
/** What the first look at a run takes at most; then orders and filters, which the window asks for only after a pause in typing. */
const LIMITS = { openMs: 300, questionMs: 500, framesPerSecond: 58, frameWorkMs: 8 } as const;
const TYPING_PAUSE_MS = 180;
/** As somebody reads, looks for something, and flings the table. */
const SPEEDS = { reading: 800, searching: 8000, flinging: 80_000 } as const;
const SCROLL_SECONDS = 10;
const JUMPS = 20;
/** Reading all results into memory, and the order by name, once after opening. */
const FIRST_LOOK_MS = 8000;
const LONG_MS = 120_000;

/** What the page runs, as text: scripts of Node know nothing of documents. */
const RECORD_FRAMES = `(() => {
  const times = [];
  let empty = 0;
  let isOver = false;
  const grid = document.querySelector('[role="grid"][aria-label="Sequences"]');
  const frame = (time) => {
    if (isOver) return;
    times.push(time);
    if (grid.querySelector('[class*="placeholder"]')) empty += 1;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  globalThis.endFrames = () => {
    isOver = true;
    return { times, empty };
  };
})()`;

interface Figure {
  what: string;
  value: number;
  unit: 'ms' | 'frames/s';
  limit: number | null;
  /** All frames of a scroll. */
  frames?: FrameFigures;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { run: { type: 'string' }, json: { type: 'string' } },
});
const sequences = Number(positionals[0] ?? 1_000_000);
const figures: Figure[] = [];
const say = (line: string) => process.stdout.write(`${line}\n`);

const executablePath = findChromium();
if (executablePath === undefined) {
  say('No Chromium found: install one, or set CHROMIUM_PATH.');
  process.exit(1);
}
const place = mkdtempSync(join(tmpdir(), 'virnucpro-bench-window-'));
try {
  const folder = values.run === undefined ? join(place, 'runs', 'large') : resolve(values.run);
  if (!existsSync(join(folder, 'run.db'))) {
    say(`Making a run of ${sequences.toLocaleString('en')} sequences ...`);
    mkdirSync(dirname(folder), { recursive: true });
    execFileSync(process.execPath, [MAKE_RUN, String(sequences), '--make', '--run', folder], {
      stdio: 'inherit',
    });
  }
  await buildWindow();
  await measureRun(folder, executablePath);
} finally {
  rmSync(place, { recursive: true, force: true, maxRetries: 5 });
}

async function measureRun(folder: string, chromiumPath: string): Promise<void> {
  const engine = await EngineProcess.start({
    dataFolder: join(place, 'data'),
    filesFolder: dirname(folder),
  });
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
  try {
    const context = await browser.newContext({ viewport: SCREEN, reducedMotion: 'reduce' });
    const page = await context.newPage();
    page.setDefaultTimeout(LONG_MS);
    const version = browser.version();
    say(`Chromium ${version}, headless, window ${SCREEN.width} × ${SCREEN.height}`);
    await page.goto(await engine.address());
    await openRunFolder(page, folder);
    const total = await showResults(page);
    await page.waitForTimeout(FIRST_LOOK_MS);
    await measureOpening(page);
    await measureOrders(page);
    await measureFilters(page);
    await measureScrolling(page);
    const { frameWorkP95Ms, frameProcessorP95Ms } = await scrollFigures(browser, page, 'Sequences');
    report({
      what: 'script and layout per frame, 95th percentile',
      value: frameWorkP95Ms,
      unit: 'ms',
      limit: null,
    });
    report({
      what: 'of it processor time',
      value: frameProcessorP95Ms,
      unit: 'ms',
      limit: LIMITS.frameWorkMs,
    });
    finish(total, version);
  } finally {
    await browser.close();
    await engine.kill();
  }
}

async function openRunFolder(page: Page, folder: string): Promise<void> {
  const later = page.getByRole('button', { name: 'Skip' });
  await page.getByRole('heading', { level: 1 }).waitFor();
  if (await later.isVisible()) await later.click();
  await page.getByRole('navigation').getByRole('link', { name: 'Runs', exact: true }).click();
  await page.getByRole('button', { name: 'Open a run folder' }).first().click();
  const chooser = page.getByRole('dialog');
  await chooser.getByRole('button', { name: basename(folder) }).click();
  await chooser.getByText(folder, { exact: true }).waitFor();
  await chooser.getByRole('button', { name: 'Take this folder' }).click();
  await page.getByRole('tab', { name: 'Results' }).waitFor();
}

async function showResults(page: Page): Promise<number> {
  await page.getByRole('tab', { name: 'Results' }).click();
  const shown = page.getByRole('status').filter({ hasText: 'shown' });
  await shown.waitFor();
  return Number(((await shown.textContent()) ?? '').replaceAll(/\D/g, ''));
}

/** From the click on the tab until rows are on the screen; everything is in memory by now, as after the first look. */
async function measureOpening(page: Page): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    await page.getByRole('tab', { name: 'Progress' }).click();
    await page.waitForTimeout(600);
    const tab = page.getByRole('tab', { name: 'Results' });
    times.push(await timeOf(tab, 'node.click()', 'rowsAreThere()'));
  }
  report({
    what: 'open the Results tab (median of 5)',
    value: percentile(times, 0.5),
    unit: 'ms',
    limit: LIMITS.openMs,
  });
}

async function measureOrders(page: Page): Promise<void> {
  const grid = page.getByRole('grid', { name: 'Sequences' });
  const headers = grid.getByRole('columnheader').filter({ has: page.getByRole('button') });
  for (const header of await headers.all()) {
    const button = header.getByRole('button');
    const name = ((await button.textContent()) ?? '').trim();
    for (let click = 0; click < 2; click++) {
      await page.waitForTimeout(400);
      const value = await timeOf(
        button,
        'globalThis.rowsBefore = rows(); node.click()',
        'rowsAreThere() && rows() !== globalThis.rowsBefore',
      );
      const direction = (await header.getAttribute('aria-sort')) ?? '';
      report({ what: `order by ${name}, ${direction}`, value, unit: 'ms', limit: LIMITS.questionMs });
    }
  }
}

async function measureFilters(page: Page): Promise<void> {
  const filter = page.getByRole('search', { name: 'Filter the table' });
  const search = filter.getByRole('textbox', { name: 'Search names and headers' });
  const measure = async (what: string, node: Locator, act: string) => {
    await page.waitForTimeout(400);
    const value = await timeOf(
      node,
      `globalThis.shownBefore = shown(); ${act}`,
      'shown() !== globalThis.shownBefore && rowsAreThere()',
    );
    report({
      what: `filter: ${what} (waits ${TYPING_PAUSE_MS} ms for more typing)`,
      value,
      unit: 'ms',
      limit: LIMITS.questionMs + TYPING_PAUSE_MS,
    });
  };
  await measure('name has "9999"', search, `type(node, '9999')`);
  await measure('any name again', search, `type(node, '')`);
  for (const call of ['Virus', 'Other', 'Not scored']) {
    const chip = filter.getByRole('checkbox', { name: call, exact: true });
    await measure(`call ${call}`, chip, 'node.click()');
    await measure(`call ${call} no more`, chip, 'node.click()');
  }
}

async function measureScrolling(page: Page): Promise<void> {
  const grid = page.getByRole('grid', { name: 'Sequences' });
  // Brings it into sight.
  await grid.hover();
  const box = await grid.boundingBox();
  if (!box) throw new Error('The table is not there');
  const devtools = await page.context().newCDPSession(page);
  for (const [name, speed] of Object.entries(SPEEDS)) {
    await grid.evaluate((node: { scrollTop: number }) => {
      node.scrollTop = 0;
    });
    await page.waitForTimeout(1500);
    await page.evaluate(RECORD_FRAMES);
    await scroll(devtools, { x: box.x + box.width / 2, y: box.y + box.height / 2 }, speed);
    const { times, empty } = await page.evaluate<{ times: number[]; empty: number }>(
      'globalThis.endFrames()',
    );
    const frames = frameFigures(times, empty);
    report({
      what: `scroll, ${name} (${speed.toLocaleString('en')} px/s for ${SCROLL_SECONDS} s)`,
      value: frames.perSecond,
      unit: 'frames/s',
      limit: LIMITS.framesPerSecond,
      frames,
    });
    say(
      `       late frames ${frames.late} of ${frames.count}, longest ${frames.longestMs} ms; frames with rows still to come: ${frames.empty}`,
    );
  }
  const times: number[] = [];
  for (let jump = 1; jump <= JUMPS; jump++) {
    // Spread over the whole table, in no order.
    const part = (jump * 0.618034) % 1;
    times.push(
      await timeOf(
        grid,
        `node.scrollTop = ${part} * (node.scrollHeight - node.clientHeight)`,
        'rowsAreThere()',
      ),
    );
    await page.waitForTimeout(300);
  }
  report({
    what: `jump with the scroll bar until the rows are there, slowest of ${JUMPS}`,
    value: Math.max(...times),
    unit: 'ms',
    limit: LIMITS.questionMs,
  });
  await devtools.detach();
}

/** As a wheel or a touchpad does, by Chromium itself. */
async function scroll(devtools: CDPSession, at: { x: number; y: number }, speed: number): Promise<void> {
  await devtools.send('Input.synthesizeScrollGesture', {
    ...at,
    yDistance: -speed * SCROLL_SECONDS,
    speed,
    preventFling: true,
    gestureSourceType: 'mouse',
  });
}

function report(figure: Figure): void {
  const value = Math.round(figure.value * 10) / 10;
  const { what, unit, limit } = figure;
  figures.push({ ...figure, value });
  const aim = limit === null ? '' : `, limit ${limit} ${unit}`;
  say(`${limit === null ? '      ' : isMet(figure) ? 'ok    ' : 'MISSED'} ${what}: ${value} ${unit}${aim}`);
}

function isMet({ value, unit, limit }: Figure): boolean {
  if (limit === null) return true;
  return unit === 'ms' ? value <= limit : value >= limit;
}

function finish(total: number, chromiumVersion: string): void {
  const limited = figures.filter(({ limit }) => limit !== null);
  const missed = limited.filter((figure) => !isMet(figure));
  say(`${limited.length - missed.length} of ${limited.length} within their limits`);
  process.exitCode = missed.length > 0 ? 1 : 0;
  if (values.json === undefined) return;
  const machine = {
    ...measuringComputer(),
    chromium: `${chromiumVersion}, headless, painting in software`,
  };
  const written = { measured: new Date().toISOString(), machine, sequences: total, figures };
  writeFileSync(values.json, `${JSON.stringify(written, null, 2)}\n`);
}

/** Milliseconds from `act` on an element until the frame after the one in which `isDone`; both are what the page runs, as text, since
 * scripts of Node know nothing of documents. */
async function timeOf(element: Locator, act: string, isDone: string): Promise<number> {
  await element.evaluate((node: { setAttribute: (name: string, value: string) => void }) => {
    node.setAttribute('data-measured', '');
  });
  const answer: unknown = await element.page().evaluate(`(async () => {
    const node = document.querySelector('[data-measured]');
    node.removeAttribute('data-measured');
    const table = () => document.querySelector('[role="grid"][aria-label="Sequences"]');
    const rows = () => [...(table()?.querySelectorAll('[role="row"][aria-rowindex="2"], [role="row"][aria-rowindex="3"]') ?? [])]
      .map((row) => row.textContent).sort().join();
    const rowsAreThere = () =>
      (table()?.querySelectorAll('[role="row"]').length ?? 0) > 2 && !table()?.querySelector('[class*="placeholder"]');
    const shown = () => [...document.querySelectorAll('[role="status"]')].map((one) => one.textContent).join();
    const type = (input, text) => {
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, text);
      input.dispatchEvent(new Event('input', { bubbles: true }));
    };
    const nextFrame = () => new Promise(requestAnimationFrame);
    const begun = performance.now();
    ${act};
    // What is asked has not been shown in the same frame.
    do {
      await nextFrame();
      if (performance.now() - begun > 30_000) throw new Error('Nothing changed');
    } while (!(${isDone}));
    await nextFrame();
    return performance.now() - begun;
  })()`);
  return Number(answer);
}
