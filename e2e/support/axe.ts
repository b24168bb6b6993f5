import type { Page } from '@playwright/test';
import axe, { type Result } from 'axe-core';

export interface Look {
  /** Selectors of the part that is looked at, and of what is left out of it; else the whole page. */
  within?: string | undefined;
  without?: string | undefined;
  /** Else all of axe's. */
  rules?: readonly string[] | undefined;
}

/** What axe finds on the page. It is put into a page once and stays for further looks, which a page that is loaded again loses. */
export async function violations(page: Page, { within, without, rules }: Look = {}): Promise<Result[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axe.source);
  const context = { include: [within ?? 'html'], ...(without === undefined ? {} : { exclude: [without] }) };
  const options = {
    resultTypes: ['violations'],
    // No page of ours has frames.
    iframes: false,
    ...(rules === undefined ? {} : { runOnly: rules }),
  };
  return page.evaluate<Result[]>(
    `axe.run(${JSON.stringify(context)}, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
}
