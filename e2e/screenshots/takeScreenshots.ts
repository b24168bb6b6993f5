/**
 * `npm run node -- e2e/screenshots/takeScreenshots.ts [STORY]`: takes the pictures of the guide, in docs/images/guide, or only
 * those of one story: screen, results or biologist.
 */
import { chromium } from '@playwright/test';
import { buildWindow } from '../../build/buildWindow.ts';
import { SAMPLE } from '../../electron/engine/testing/realFiles.ts';
import { findChromium } from '../support/findChromium.ts';
import { filmGuide } from './guide/filmGuide.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);
const executablePath = findChromium();
if (executablePath === undefined) {
  say('No Chromium found: install one, or set CHROMIUM_PATH.');
  process.exit(1);
}
await buildWindow();
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
await filmGuide(browser, SAMPLE, say, process.argv[2]).finally(() => browser.close());
