import { pathToFileURL } from 'node:url';
import { expect, type Page } from '@playwright/test';
import { violations } from './axe.ts';

/** The size of A4 in points. */
const A4 = { width: 595, height: 842 };

/** Words in table headings that are broken across lines. */
const BROKEN_HEADS = `[...document.querySelectorAll('th')].flatMap((head) => {
  const text = [...head.childNodes].find((node) => node.nodeType === Node.TEXT_NODE);
  return [...(text?.data ?? '').matchAll(/\\S+/g)].filter(({ 0: word, index }) => {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    return range.getClientRects().length > 1;
  }).map(({ 0: word }) => word);
})`;

/**
 * Checks the report as a recipient sees it: opened without a network, on a phone and on a screen, and
 * printed.
 */
export async function expectReadableReport(page: Page, path: string): Promise<void> {
  const browser = page.context().browser();
  if (!browser) throw new Error('The page has no browser');
  const context = await browser.newContext({ offline: true });
  const report = await context.newPage();
  const asked: string[] = [];
  report.on('request', (request) => asked.push(request.url()));
  const address = pathToFileURL(path).href;
  await report.goto(address);
  expect(asked).toEqual([address]);
  // Only run.json contains this.
  await expect(report.getByText(/\(PyTorch \d/)).toBeVisible();
  await expect(report.getByRole('heading', { name: 'What was run' })).toBeVisible();
  for (const width of [360, 1440]) {
    await report.setViewportSize({ width, height: 900 });
    expect(await report.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(await report.evaluate(BROKEN_HEADS)).toEqual([]);
  }
  // The mark across the page is pale on purpose; the note at the top says the same in full contrast.
  expect(await violations(report, { without: '.watermark' })).toEqual([]);
  const pdf = (await report.pdf({ preferCSSPageSize: true, printBackground: true })).toString('latin1');
  const sheets = [...pdf.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)].map(([, width, height]) => ({
    width: Math.round(Number(width)),
    height: Math.round(Number(height)),
  }));
  expect(sheets.length).toBeGreaterThan(1);
  expect(sheets).toEqual(sheets.map(() => A4));
  await context.close();
}
