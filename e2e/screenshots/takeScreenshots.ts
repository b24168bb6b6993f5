/** `npm run node -- e2e/screenshots/takeScreenshots.ts`: takes the pictures of the guide anew, in docs/images/guide. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { buildWindow } from '../../build/buildWindow.ts';
import { MADE_COMPUTERS } from '../../renderer/testing/memoryEngine/router/computersRouter.ts';
import { serveMemoryEngine } from '../../renderer/testing/serve.ts';
import { EngineProcess } from '../support/engineProcess.ts';
import { findChromium, launchOptions } from '../support/findChromium.ts';
import { writeSample } from '../support/inputs.ts';
import { biologist, emptyHome } from './guide/biologist.ts';
import { GUIDE_SIZE, GuideCamera, IMAGES } from './guide/guideCamera.ts';
import { makeRealRuns } from './guide/realRuns.ts';
import { results } from './guide/results.ts';
import { screens } from './guide/screens.ts';

/** A home whose files and data the pictures show, with a file like an assembler's that takes a while to compute. */
async function makeHome(copies: number) {
  const home = await mkdtemp(join(tmpdir(), 'virnucpro-guide-'));
  const folders = {
    dataFolder: join(home, '.local/share/virnucpro-desktop'),
    filesFolder: join(home, 'samples'),
  };
  await writeSample(join(folders.filesFolder, 'pond_water.fasta'), copies, 'k141_');
  return { home, ...folders };
}

await buildWindow();
await rm(IMAGES, { recursive: true });
await mkdir(IMAGES);
const browser = await chromium.launch(launchOptions(findChromium()));
// The pictures need a run that is still running once there is a curve, which takes about a minute.
const [laptop, server] = [await makeHome(72), await makeHome(200)];
const table = await makeRealRuns(server);
const engines = [new EngineProcess(laptop), new EngineProcess(server)] as const;
const invented = await serveMemoryEngine({ sequences: 100_000 });
// Only the desktop app has other computers.
const desktop = await serveMemoryEngine({ runs: 'none', computers: MADE_COMPUTERS.slice(0, 3) });
const empty = await serveMemoryEngine({ runs: 'none', fresh: true, welcomeSeen: false });
try {
  const [ofLaptop, ofServer] = engines;
  const window = async (address: string) => {
    const page = await browser.newPage({
      colorScheme: 'light',
      reducedMotion: 'reduce',
      viewport: GUIDE_SIZE,
    });
    page.setDefaultTimeout(60_000);
    page.on('pageerror', ({ message }) => process.stderr.write(`The page threw: ${message}\n`));
    await page.goto(address);
    return page;
  };
  const tour = await window(await ofServer.address());
  await screens(tour, new GuideCamera(tour, 'screen', server.home), {
    invented: invented.url,
    desktop: desktop.url,
  });
  const theirs = await window(await ofServer.address());
  await results(theirs, new GuideCamera(theirs, 'results', server.home), table);
  const camera = new GuideCamera(await window(empty.url), 'biologist', laptop.home);
  await emptyHome(camera.page, camera);
  camera.page = await window(await ofLaptop.address());
  await biologist(camera.page, camera, laptop.home);
} finally {
  await browser.close();
  for (const engine of engines) await engine.kill();
  for (const engine of [invented, desktop, empty]) await engine.stop();
  for (const { home } of [laptop, server]) await rm(home, { recursive: true, maxRetries: 5 });
}
