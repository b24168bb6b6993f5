import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';

export const IMAGES = join(import.meta.dirname, '..', '..', '..', 'docs', 'images', 'guide');
/** Small enough beside the text of a page, and large enough to read. */
export const GUIDE_SIZE = { width: 1280, height: 800 };
const QUALITY = 62;

/** Takes the pictures of one page of the guide, numbered in the order in which they are taken. */
export class GuideCamera {
  /** The page that is photographed; a story may continue in another window. */
  page: Page;
  private readonly prefix: string;
  /** A folder of the computer that takes the pictures, instead of which readers see one of anna's. */
  private readonly home: string;
  private taken = 0;

  constructor(page: Page, prefix: string, home: string) {
    this.page = page;
    this.prefix = prefix;
    this.home = home;
  }

  async take(name: string, page: Page = this.page): Promise<void> {
    // Playwright cannot write WebP, which needs a fifth of the size of PNG here.
    const devtools = await page.context().newCDPSession(page);
    await page.waitForTimeout(500);
    await page.evaluate(`(${SHOW_INSTEAD})(${JSON.stringify(this.home)}, '/home/anna')`);
    const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
    await devtools.detach();
    const number = String(++this.taken).padStart(2, '0');
    await writeFile(join(IMAGES, `${this.prefix}-${number}-${name}.webp`), Buffer.from(data, 'base64'));
  }
}

const SHOW_INSTEAD = `(real, shown) => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(real, shown);
  for (const input of document.querySelectorAll('input')) input.value = input.value.replaceAll(real, shown);
}`;
