/** Draws build/icon.png, from which the packages make their icons, after renderer/public/icon.svg. Needs a Chromium. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { findChromium } from '../e2e/support/findChromium.ts';

const root = join(import.meta.dirname, '..');
const SIZE = 1024;

const svg = await readFile(join(root, 'renderer', 'public', 'icon.svg'), 'utf8');
const executablePath = findChromium();
const browser = await chromium.launch({
  ...(executablePath === undefined ? {} : { executablePath }),
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
const page = await browser.newPage({ viewport: { width: SIZE, height: SIZE } });
await page.setContent(
  `<style>body{margin:0}svg{display:block;width:${SIZE}px;height:${SIZE}px}</style>${svg}`,
);
await page.screenshot({ path: join(root, 'build', 'icon.png'), omitBackground: true });
await browser.close();
