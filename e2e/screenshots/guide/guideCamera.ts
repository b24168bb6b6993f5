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
  private taken = 0;

  constructor(page: Page, folder: string, prefix: string) {
    this.page = page;
    this.folder = folder;
    this.prefix = prefix;
  }

  /** Removes the pictures of earlier times. */
  async begin(): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    for (const name of await readdir(this.folder))
      if (name.startsWith(`${this.prefix}-`)) await rm(join(this.folder, name));
  }

  async take(name: string, page: Page = this.page): Promise<void> {
    // Playwright makes no WebP, which is a fifth of PNG here.
    const devtools = await page.context().newCDPSession(page);
    await page.waitForTimeout(500);
    const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
    await devtools.detach();
    this.taken += 1;
    const number = String(this.taken).padStart(2, '0');
    await writeFile(join(this.folder, `${this.prefix}-${number}-${name}.webp`), Buffer.from(data, 'base64'));
  }
}
