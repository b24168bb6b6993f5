import type { Page } from '@playwright/test';
import axe, { type Result } from 'axe-core';

/**
 * What axe finds on the page, or within what a selector names: by all its rules, or by those given. It is put into a page once and
 * stays for further looks, which a page that is loaded again loses.
 */
export async function violations(page: Page, within?: string, rules?: readonly string[]): Promise<Result[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axe.source);
  const options = {
    resultTypes: ['violations'],
    // No page of ours has frames.
    iframes: false,
    ...(rules === undefined ? {} : { runOnly: rules }),
  };
  return page.evaluate<Result[]>(
    `axe.run(${JSON.stringify(within ?? 'html')}, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
}
