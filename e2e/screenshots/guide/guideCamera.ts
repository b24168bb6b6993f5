import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';

/** Small enough for a page of text beside it, large enough to read. */
export const GUIDE_SIZE = { width: 1280, height: 800 };
const QUALITY = 62;

/** Takes the pictures of one page of the guide, numbered in the order in which they are taken. */
export class GuideCamera {
  /** What is filmed; a story may go on in another window. */
  page: Page;
  private readonly folder: string;
  private readonly prefix: string;
  private readonly taken: string[] = [];

  constructor(page: Page, folder: string, prefix: string) {
    this.page = page;
    this.folder = folder;
    this.prefix = prefix;
  }

  /** Removes pictures of earlier times that were not taken again: only now, since the window is built with those of its guide. */
  async end(): Promise<void> {
    for (const name of await readdir(this.folder))
      if (name.startsWith(`${this.prefix}-`) && !this.taken.includes(name)) await rm(join(this.folder, name));
  }

  async take(name: string, page: Page = this.page): Promise<void> {
    // Playwright makes no WebP, which is a fifth of PNG here.
    const devtools = await page.context().newCDPSession(page);
    await page.waitForTimeout(500);
    const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
    await devtools.detach();
    const number = String(this.taken.length + 1).padStart(2, '0');
    const file = `${this.prefix}-${number}-${name}.webp`;
    await mkdir(this.folder, { recursive: true });
    await writeFile(join(this.folder, file), Buffer.from(data, 'base64'));
    this.taken.push(file);
  }
}
