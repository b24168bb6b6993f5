import { expect, type Page } from '@playwright/test';
import axe from 'axe-core';

interface Look {
  /** Selectors of the part to check and of the parts to leave out; by default the whole page is checked. */
  within?: string | undefined;
  without?: string;
  /** By default all rules of axe apply. */
  rules?: string[];
}

/** Colours that are just changing have a contrast that nobody sees. Spinners never end. */
const STILL = `document.getAnimations().every(
  ({ playState, effect }) => playState !== 'running' || effect?.getComputedTiming().endTime === Infinity,
)`;

/** Returns what axe finds on the page, in which it stays for further checks until the page is reloaded. */
export async function violations(
  page: Page,
  { within = 'html', without, rules }: Look = {},
): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axe.source);
  await expect.poll(() => page.evaluate<boolean>(STILL)).toBe(true);
  const context = { include: [within], exclude: without };
  // Our pages have no frames.
  const options = { resultTypes: ['violations'], iframes: false, runOnly: rules };
  return page.evaluate<string[]>(
    `axe.run(${JSON.stringify(context)}, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes[0]?.html.slice(0, 200)))`,
  );
}
