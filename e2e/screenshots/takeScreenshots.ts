/**
 * `node e2e/screenshots/takeScreenshots.ts`: takes pictures of every screen in both themes and two sizes. The
 * built window first shows the real engine with the teaching model, then invented contents for what this
 * computer may not have (eight GPUs, failures). The pictures go to screenshots/, which git ignores. axe
 * checks each screen, and its findings are printed. Last come the pictures of the guide, in
 * docs/images/guide; `node e2e/screenshots/takeScreenshots.ts --guide` takes only these, and `--guide
 * biologist` (or bioinformatician, results, screen) only those of one story.
 */
import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { EngineProcess } from '../support/engineProcess.ts';
import { serveMemoryEngine } from '../../renderer/testing/serve.ts';
import { buildWindow } from '../../build/buildWindow.ts';
import { findChromium } from '../support/findChromium.ts';
import { Camera } from './camera.ts';
import { makeSampleFiles } from './sampleFiles.ts';
import { eightGpus } from './eightGpus.ts';
import { filmGuide } from './guide/filmGuide.ts';
import { open } from './steps.ts';
import { SAMPLE } from '../../electron/engine/testing/realFiles.ts';
import * as tour from './tour.ts';

const root = join(import.meta.dirname, '..', '..');
const output = join(root, 'screenshots');
const SERIOUS = ['serious', 'critical'];
const [LONG_RUN, SHORT_RUN, LAST_RUN] = ['Soil plots A and B', 'Soil 2026, contigs', 'Soil 2026, again'];

const say = (line: string) => process.stdout.write(`${line}\n`);
const executablePath = findChromium();
if (executablePath === undefined) {
  say('No Chromium found: install one, or set CHROMIUM_PATH.');
  process.exit(1);
}

await buildWindow();
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const guide = process.argv.indexOf('--guide');
if (guide > 0) {
  const story = process.argv[guide + 1];
  await filmGuide(browser, SAMPLE, say, story).finally(() => browser.close());
  process.exit();
}
const place = await mkdtemp(join(tmpdir(), 'virnucpro-screenshots-'));
const folders = { data: join(place, 'data'), files: join(place, 'files') };
await mkdir(folders.files, { recursive: true });
await makeSampleFiles(SAMPLE, folders.files);
await rm(output, { recursive: true, force: true });

let engine = await EngineProcess.start({ dataFolder: folders.data, filesFolder: folders.files });
const invented = await serveMemoryEngine({ sequences: 100_000 });
try {
  const context = await browser.newContext({ colorScheme: 'light', reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on('pageerror', (error) => say(`The page threw: ${error.message}`));
  const camera = new Camera(page, output);

  const address = await engine.address();
  await page.goto(new URL('/', address).href);
  await page.getByText('This window has no access').waitFor();
  await camera.take('refused');
  await page.goto(address);

  await tour.firstStart(page, camera);
  await tour.example(page, camera);
  await tour.newRun(page, camera, 'soil 2026');
  await tour.startNamed(page, SHORT_RUN);
  await tour.results(page, camera, SHORT_RUN);

  await tour.addFolder(page, 'plots');
  await tour.startNamed(page, LONG_RUN);
  await tour.atWork(page, camera, LONG_RUN);
  await tour.paused(page, camera, LONG_RUN);
  await tour.addFolder(page, 'plots');
  await tour.startNamed(page, LAST_RUN);
  await tour.queue(page, camera);
  await tour.restOfTheWindow(page, camera);
  await tour.german(page, camera);

  await tour.openRun(page, LONG_RUN);
  await engine.kill();
  await page.getByText('Connection to the program lost').waitFor();
  await camera.take('connection-lost');
  engine = await engine.restarted();
  await page.goto(await engine.address());
  await page.getByText('was interrupted; continue?').first().waitFor();
  await open(page, 'Runs');
  await camera.take('interrupted');
  await tour.openRun(page, LONG_RUN);
  await camera.take('run-interrupted');

  await eightGpus(page, camera, invented.url);
  await filmGuide(browser, SAMPLE, say);

  for (const { picture, rule, impact, where } of camera.complaints)
    say(`axe: ${picture}: ${impact} ${rule} at ${where}`);
  const serious = camera.complaints.filter(({ impact }) => SERIOUS.includes(impact)).length;
  say(
    `${camera.taken} pictures in ${output}; axe finds ${serious} serious and ${camera.complaints.length - serious} lesser things.`,
  );
  process.exitCode = serious > 0 ? 1 : 0;
} finally {
  await browser.close();
  await engine.kill();
  await invented.stop();
  await rm(place, { recursive: true, force: true, maxRetries: 5 });
}
