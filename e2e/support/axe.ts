import { expect, type Page } from '@playwright/test';
import axe, { type Result } from 'axe-core';

export interface Look {
  /** Selectors of the part to check and of the parts to leave out; by default the whole page is checked. */
  within?: string | undefined;
  without?: string | undefined;
  /** By default all rules of axe apply. */
  rules?: readonly string[] | undefined;
}

/** Colours that are just changing have a contrast that nobody sees. Spinners never end. */
const STILL = `document.getAnimations().every(
  ({ playState, effect }) => playState !== 'running' || effect?.getComputedTiming().endTime === Infinity,
)`;

/**
 * Returns what axe finds on the page. axe is injected once and stays for further checks until the page is
 * reloaded.
 */
export async function violations(page: Page, { within, without, rules }: Look = {}): Promise<Result[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axe.source);
  await expect.poll(() => page.evaluate<boolean>(STILL)).toBe(true);
  const context = { include: [within ?? 'html'], ...(without === undefined ? {} : { exclude: [without] }) };
  const options = {
    resultTypes: ['violations'],
    // Our pages have no frames.
    iframes: false,
    ...(rules === undefined ? {} : { runOnly: rules }),
  };
  return page.evaluate<Result[]>(
    `axe.run(${JSON.stringify(context)}, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
}
