/**
 * Draws build/icon.png and, for Windows and macOS, icon.ico and icon.icns from renderer/public/icon.svg.
 * Needs a Chromium.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { findChromium } from '../e2e/support/findChromium.ts';

const root = join(import.meta.dirname, '..');
/** Sizes for title bar, taskbar, desktop and large views at the usual scales. */
const WINDOWS_SIZES = [16, 24, 32, 48, 64, 128, 256];
/** Apple's names for the sizes; fine screens use twice the size. */
const MAC_SIZES = {
  ...{ icp4: 16, icp5: 32, ic07: 128, ic08: 256, ic09: 512 },
  ...{ ic11: 32, ic12: 64, ic13: 256, ic14: 512, ic10: 1024 },
};

const svg = await readFile(join(root, 'renderer', 'public', 'icon.svg'), 'utf8');
const executablePath = findChromium();
const browser = await chromium.launch({
  ...(executablePath === undefined ? {} : { executablePath }),
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
const page = await browser.newPage();

async function draw(size: number): Promise<Buffer> {
  await page.setViewportSize({ width: size, height: size });
  await page.setContent(
    `<style>body{margin:0}svg{display:block;width:${size}px;height:${size}px}</style>${svg}`,
  );
  return page.screenshot({ omitBackground: true });
}

/** The file starts with a list of where each picture begins, followed by the unchanged pictures. */
function windowsIcon(pictures: readonly { size: number; png: Buffer }[]): Buffer {
  const entryBytes = 16;
  const header = Buffer.alloc(6 + entryBytes * pictures.length);
  header.writeUInt16LE(1, 2); // an icon, not a cursor
  header.writeUInt16LE(pictures.length, 4);
  let place = header.length;
  pictures.forEach(({ size, png }, index) => {
    const entry = 6 + entryBytes * index;
    // Width and height have one byte each, in which 0 stands for 256.
    header.writeUInt8(size % 256, entry);
    header.writeUInt8(size % 256, entry + 1);
    header.writeUInt16LE(1, entry + 4);
    header.writeUInt16LE(32, entry + 6);
    header.writeUInt32LE(png.length, entry + 8);
    header.writeUInt32LE(place, entry + 12);
    place += png.length;
  });
  return Buffer.concat([header, ...pictures.map(({ png }) => png)]);
}

/** The file contains the total length, then each picture after its name and length. */
function macIcon(pictures: readonly { name: string; png: Buffer }[]): Buffer {
  const block = (name: string, content: Buffer) => {
    const head = Buffer.alloc(8);
    head.write(name, 'latin1');
    head.writeUInt32BE(head.length + content.length, 4);
    return Buffer.concat([head, content]);
  };
  return block('icns', Buffer.concat(pictures.map(({ name, png }) => block(name, png))));
}

const inBuild = (name: string) => join(root, 'build', name);
await writeFile(inBuild('icon.png'), await draw(1024));
const forWindows = [];
for (const size of WINDOWS_SIZES) forWindows.push({ size, png: await draw(size) });
await writeFile(inBuild('icon.ico'), windowsIcon(forWindows));
const forMac = [];
for (const [name, size] of Object.entries(MAC_SIZES)) forMac.push({ name, png: await draw(size) });
await writeFile(inBuild('icon.icns'), macIcon(forMac));
await browser.close();
