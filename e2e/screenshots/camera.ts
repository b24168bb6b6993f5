import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { violations } from '../support/axe.ts';

const THEMES = ['light', 'dark'] as const;
const SIZES = [
  { width: 1440, height: 900 },
  { width: 1024, height: 700 },
] as const;

interface Complaint {
  readonly picture: string;
  readonly rule: string;
  readonly impact: string;
  readonly where: string;
}

/** Takes every picture in both themes and sizes, and runs axe on each screen. */
export class Camera {
  private readonly page: Page;
  private readonly folder: string;
  readonly complaints: Complaint[] = [];
  taken = 0;

  constructor(page: Page, folder: string) {
    this.page = page;
    this.folder = folder;
  }

  async take(name: string): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    for (const colorScheme of THEMES) {
      await this.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      for (const size of SIZES) {
        await this.page.setViewportSize(size);
        await this.page.waitForTimeout(350);
        const picture = `${name}-${colorScheme}-${size.width}x${size.height}`;
        await this.page.screenshot({ path: join(this.folder, `${picture}.png`) });
        this.taken += 1;
        if (size === SIZES[0]) await this.inspect(picture);
      }
    }
    await this.page.setViewportSize(SIZES[0]);
    await this.page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  }

  private async inspect(picture: string): Promise<void> {
    for (const { id, impact, nodes } of await violations(this.page)) {
      const where = nodes.map((node) => node.target.join(' ')).join(', ');
      this.complaints.push({ picture, rule: id, impact: impact ?? 'unknown', where });
    }
  }
}
