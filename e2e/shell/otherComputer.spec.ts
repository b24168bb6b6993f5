/**
 * Tests the window with a second computer, which is reached through a stand-in for ssh: it is this computer
 * with another home.
 */
import { readdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  cutFakeSsh,
  makeFakeSsh,
  makeServerPackage,
} from '../../electron/engine/service/computers/testing/fakeSsh.ts';
import { writeSample } from '../support/inputs.ts';
import { complaints, goTo, LONG_MS } from '../support/window.ts';
import { expect, firstWindow, test } from './support/fixtures.ts';
import { dropGiven } from './support/steps.ts';

const FINGERPRINT = 'SHA256:3o0ZQ8pPV4QH1rTqnZr1kYbYw7nKfTj0m5vI2kqg8uU';
const checkout = join(import.meta.dirname, '..', '..');

let home: string | undefined;
/** The server there continues when the app has ended, as it should. */
test.afterEach(async () => {
  const servers = join(home ?? '', '.local', 'share', 'virnucpro-desktop', 'servers');
  const file = join(servers, `${hostname()}.json`);
  if (home !== undefined) process.kill((JSON.parse(await readFile(file, 'utf8')) as { pid: number }).pid);
});

/** Makes a package for other computers that starts this checkout's server. */
async function makePackage(folder: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8')) as {
    version: string;
  };
  const main = join(checkout, 'electron', 'cli', 'main.ts');
  return makeServerPackage(folder, version, `shift 3; exec "${process.execPath}" "${main}" "$@"\n`);
}

test('another computer is added, shown, sent a file, lost and found again', async ({ start, places }) => {
  test.skip(process.platform !== 'linux', 'the stand-in for ssh is a script');
  home = join(places.home, 'far');
  const ssh = makeFakeSsh(join(places.home, 'ssh'), { home, fingerprint: FINGERPRINT });
  const app = await start({
    env: {
      PATH: `${ssh}:${process.env['PATH'] ?? ''}`,
      VIRNUCPRO_SERVER_PACKAGE: await makePackage(join(places.home, 'packed')),
    },
  });
  const page = await firstWindow(app);
  await goTo(page, 'Computers');
  await page.getByLabel('Address').fill('anna@far');
  await page.getByRole('button', { name: 'Add and connect' }).click();

  const question = page.getByRole('dialog', { name: 'Is this anna@far?' });
  await expect(question.getByText(FINGERPRINT)).toBeVisible({ timeout: LONG_MS });
  expect(await complaints(page, 'host key')).toEqual([]);
  await question.getByRole('button', { name: 'The key is right' }).click();
  const place = page.getByRole('navigation').getByRole('link', { name: 'anna@far' });
  await expect(place).toBeVisible();
  await expect(page.getByRole('heading', { level: 1, name: 'Runs' })).toBeVisible({ timeout: LONG_MS });
  await place.click();
  await expect(page.getByText('Connected', { exact: true })).toBeVisible();
  expect(await complaints(page, 'computers')).toEqual([]);

  const input = join(places.files, 'contigs.fasta');
  await writeSample(input, 1);
  await goTo(page, 'New run');
  await dropGiven(page, [input]);
  const uploads = join(home, '.local', 'share', 'virnucpro-desktop', 'uploads');
  const sent = async () =>
    (await readdir(uploads, { recursive: true }).catch(() => [])).find((name) =>
      name.endsWith('contigs.fasta'),
    );
  await expect.poll(sent, { timeout: LONG_MS }).toBeDefined();
  expect(await readFile(join(uploads, (await sent()) ?? ''), 'utf8')).toBe(await readFile(input, 'utf8'));

  await expect(page.getByText('Sending contigs.fasta')).toBeHidden({ timeout: LONG_MS });
  const lost = page.getByText('No connection to anna@far; trying again.');
  cutFakeSsh(ssh, true);
  await expect(lost).toBeVisible({ timeout: LONG_MS });
  cutFakeSsh(ssh, false);
  await expect(lost).toBeHidden({ timeout: LONG_MS });

  await place.click();
  await page.getByRole('button', { name: 'Show in this window' }).click();
  await expect(page.getByRole('navigation').getByRole('link', { name: 'Computers' })).toBeVisible();
});
