import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';

/** Small enough beside the text of a page, and large enough to read. */
export const GUIDE_SIZE = { width: 1280, height: 800 };
const QUALITY = 62;

/** Takes the pictures of one page of the guide, numbered in the order in which they are taken. */
export class GuideCamera {
  /** The page that is photographed; a story may continue in another window. */
  page: Page;
  private readonly folder: string;
  private readonly prefix: string;
  private readonly taken: string[] = [];
  /** A folder of the computer that takes the pictures, and what readers see instead. */
  private readonly shownAs: readonly [real: string, shown: string] | null;

  constructor(page: Page, folder: string, prefix: string, shownAs: GuideCamera['shownAs'] = null) {
    this.page = page;
    this.folder = folder;
    this.prefix = prefix;
    this.shownAs = shownAs;
  }

  /**
   * Removes older pictures that were not taken again. This comes last, since the window is built with the
   * pictures of its guide.
   */
  async end(): Promise<void> {
    for (const name of await readdir(this.folder))
      if (name.startsWith(`${this.prefix}-`) && !this.taken.includes(name)) await rm(join(this.folder, name));
  }

  async take(name: string, page: Page = this.page): Promise<void> {
    // Playwright cannot write WebP, which needs a fifth of the size of PNG here.
    const devtools = await page.context().newCDPSession(page);
    await page.waitForTimeout(500);
    if (this.shownAs) await page.evaluate(`(${SHOW_INSTEAD})(...${JSON.stringify(this.shownAs)})`);
    const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
    await devtools.detach();
    const number = String(this.taken.length + 1).padStart(2, '0');
    const file = `${this.prefix}-${number}-${name}.webp`;
    await mkdir(this.folder, { recursive: true });
    await writeFile(join(this.folder, file), Buffer.from(data, 'base64'));
    this.taken.push(file);
  }
}

const SHOW_INSTEAD = `(real, shown) => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(real, shown);
  for (const input of document.querySelectorAll('input')) input.value = input.value.replaceAll(real, shown);
}`;

interface Scrollable {
  readonly style: { scrollMarginTop: string };
  scrollIntoView: (where: { block: 'start' }) => void;
}

/** Scrolls an element to the top of the picture. */
export function toTop(node: Scrollable): void {
  node.style.scrollMarginTop = '16px';
  node.scrollIntoView({ block: 'start' });
}
