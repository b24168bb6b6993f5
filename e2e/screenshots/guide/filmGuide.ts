import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from '@playwright/test';
import { MADE_COMPUTERS } from '../../../renderer/testing/memoryEngine/router/computersRouter.ts';
import { serveMemoryEngine } from '../../../renderer/testing/serve.ts';
import { EngineProcess } from '../../support/engineProcess.ts';
import { biologist, emptyHome, pondWater } from './biologist.ts';
import { GUIDE_SIZE, GuideCamera } from './guideCamera.ts';
import { makeRealRuns } from './realRuns.ts';
import { results } from './results.ts';
import { screens } from './screens.ts';

const IMAGES = join(import.meta.dirname, '..', '..', '..', 'docs', 'images', 'guide');

/**
 * Takes the pictures of docs/guide: of every screen, and of the walk-through of the biologist.
 */
export async function filmGuide(
  browser: Browser,
  sample: string,
  say: (line: string) => void,
  only?: string,
): Promise<void> {
  const isWanted = (story: string) => only === undefined || only.split(',').includes(story);
  const place = await mkdtemp(join(tmpdir(), 'virnucpro-guide-'));
  const places = { data: join(place, 'data'), files: join(place, 'files'), exports: join(place, 'exports') };
  for (const folder of [places.files, places.exports]) await mkdir(folder, { recursive: true });
  await pondWater(await readFile(sample, 'utf8'), places.files);
  const engine = await EngineProcess.start({ dataFolder: places.data, filesFolder: places.files });
  const others = { data: join(place, '.local/share/virnucpro-desktop'), files: join(place, 'samples') };
  await mkdir(others.files);
  await pondWater(await readFile(sample, 'utf8'), others.files, 200);
  const table = only === 'biologist' ? '' : await makeRealRuns(others);
  const overRuns = await EngineProcess.start({ dataFolder: others.data, filesFolder: others.files });
  const shownAs = [place, '/home/anna'] as const;
  const invented = await serveMemoryEngine({ sequences: 100_000 });
  // Only the desktop app has other computers.
  const desktop = await serveMemoryEngine({ runs: 'none', computers: MADE_COMPUTERS.slice(0, 3) });
  const empty = await serveMemoryEngine({ runs: 'none', fresh: true, welcomeSeen: false });
  try {
    const window = async (address: string) => {
      const context = await browser.newContext({
        colorScheme: 'light',
        reducedMotion: 'reduce',
        viewport: GUIDE_SIZE,
        acceptDownloads: true,
      });
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      page.on('pageerror', (error) => say(`The page threw: ${error.message}`));
      await page.goto(address);
      return page;
    };
    if (isWanted('screen')) {
      const tour = await window(await overRuns.address());
      const camera = new GuideCamera(tour, IMAGES, 'screen', shownAs);
      await screens(tour, camera, { invented: invented.url, desktop: desktop.url });
      await camera.end();
      await tour.close();
    }
    if (isWanted('results')) {
      const theirs = await window(await overRuns.address());
      const camera = new GuideCamera(theirs, IMAGES, 'results', shownAs);
      await results(theirs, camera, table);
      await camera.end();
      await theirs.close();
    }
    if (isWanted('biologist')) {
      const laptop = new GuideCamera(await window(empty.url), IMAGES, 'biologist', [
        places.files,
        '/home/anna/samples',
      ]);
      await emptyHome(laptop.page, laptop);
      laptop.page = await window(await engine.address());
      await biologist(laptop.page, laptop, places);
      await laptop.end();
    }
  } finally {
    await engine.kill();
    await overRuns.kill();
    await invented.stop();
    await desktop.stop();
    await empty.stop();
    await rm(place, { recursive: true, force: true, maxRetries: 5 });
  }
}
