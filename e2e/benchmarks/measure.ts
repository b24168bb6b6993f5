import type { Browser, CDPSession, Page } from '@playwright/test';
import {
  inProcessorTime,
  mainThreadFigures,
  percentile,
  type MainThreadFigures,
  type TraceEvent,
} from './trace.ts';

const TRACED = [
  '-*',
  'toplevel',
  'devtools.timeline',
  'disabled-by-default-devtools.timeline',
  'disabled-by-default-devtools.timeline.frame',
  'devtools.timeline.frame',
  'v8.execute',
];

/** The height of ten thousand rows; a table that scrolled less did not have the pointer over it. */
const FAR_PX = 380_000;

interface CpuFigures {
  /** Share of one core used by the page's process, with all its threads. */
  readonly page: number;
  /** Share used by the process that paints, in software if there is no GPU. */
  readonly painting: number;
}

/** CPU time of Chromium's processes, which does not depend on other programs on the computer. */
export async function cpuShare(
  browser: Browser,
  seconds: number,
  wait: () => Promise<void>,
): Promise<CpuFigures> {
  const session = await browser.newBrowserCDPSession();
  const before = await cpuSeconds(session);
  const begun = performance.now();
  await wait();
  const after = await cpuSeconds(session);
  const elapsed = (performance.now() - begun) / 1000;
  await session.detach();
  if (elapsed < seconds) throw new Error('The measurement ended too soon');
  return {
    page: (after.renderer - before.renderer) / elapsed,
    painting: (after.GPU - before.GPU) / elapsed,
  };
}

async function cpuSeconds(session: CDPSession): Promise<{ renderer: number; GPU: number }> {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const sum = (type: string) =>
    processInfo.filter((process) => process.type === type).reduce((total, { cpuTime }) => total + cpuTime, 0);
  return { renderer: sum('renderer'), GPU: sum('GPU') };
}

export interface ScrollFigures extends MainThreadFigures {
  /** Like `frameWorkP95Ms`, but without the time in which other programs had the core. */
  readonly frameProcessorP95Ms: number;
}

/** Flings the table down and up again with the wheel, as fast as frames come, and reads the trace. */
export async function scrollFigures(browser: Browser, page: Page, table: string): Promise<ScrollFigures> {
  const grid = page.getByRole('grid', { name: table });
  await grid.hover();
  let farthest = 0;
  await browser.startTracing(page, { categories: TRACED });
  for (const distance of [120, 900, 6000, -6000, -900]) {
    for (let step = 0; step < 60; step++) {
      await page.mouse.wheel(0, distance);
      await page.evaluate(NEXT_FRAME);
    }
    farthest = Math.max(farthest, await grid.evaluate((node: { scrollTop: number }) => node.scrollTop));
  }
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  if (farthest < FAR_PX) throw new Error(`The table was scrolled no farther than ${farthest} px`);
  return {
    ...mainThreadFigures(trace.traceEvents),
    frameProcessorP95Ms: mainThreadFigures(inProcessorTime(trace.traceEvents)).frameWorkP95Ms,
  };
}

interface SwitchFigures {
  readonly slowestMs: number;
  readonly slowest: string;
  readonly medianMs: number;
}

/** Measures from the click until the new screen is painted. */
export async function switchFigures(
  page: Page,
  hashes: readonly string[],
  rounds: number,
): Promise<SwitchFigures> {
  const times: { hash: string; ms: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const hash of hashes) {
      times.push({ hash, ms: await page.evaluate<number>(switchScript(hash)) });
      await page.waitForTimeout(400);
    }
  }
  const [slowest] = times.toSorted((a, b) => b.ms - a.ms);
  return {
    slowestMs: slowest?.ms ?? 0,
    slowest: slowest?.hash ?? '',
    medianMs: percentile(
      times.map(({ ms }) => ms),
      0.5,
    ),
  };
}

/** Code for the page; it is text, since scripts of Node have no types for documents. */
const NEXT_FRAME = 'new Promise(requestAnimationFrame)';

/**
 * Navigates like a click on a link of the navigation, and returns the milliseconds until the screen is
 * painted.
 */
const switchScript = (hash: string) => `(async () => {
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
