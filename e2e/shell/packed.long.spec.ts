/**
 * The app as it is packed, with a folder of ours in the place of Electron's own files: what electron-builder puts where,
 * started from a folder that it may not write to, then from another.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { extractAll } from '@electron/asar';
import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses';
import { execa } from 'execa';
import { writeSample } from '../support/inputs.ts';
import { finishedParts } from '../support/runDatabase.ts';
import { goTo, isDone, partsDone } from '../support/window.ts';
import { expect, firstWindow, shellLog, test } from './support/fixtures.ts';
import { packAround } from './support/madeUpElectron.ts';
import { answerQuestions, quit, startDroppedRun } from './support/steps.ts';

const root = join(import.meta.dirname, '..', '..');
/** In the wire, the digit 1. */
const FUSE_ON = 0x31;

/** Packs into a folder that is then as it would be unpacked, except that the archive is one of plain files. */
async function packInto(folder: string): Promise<{ program: string; resources: string }> {
  await packAround(folder, 'linux', ['dir']);
  const unpacked = join(folder, 'linux-unpacked');
  const resources = join(unpacked, 'resources');
  const archive = join(resources, 'app.asar');
  await rename(archive, join(folder, 'app.asar'));
  await rename(`${archive}.unpacked`, join(folder, 'app.asar.unpacked'));
  extractAll(join(folder, 'app.asar'), archive);
  await rename(join(folder, 'app.asar.unpacked'), `${archive}.unpacked`);
  return { program: join(unpacked, 'virnucpro-desktop'), resources };
}

interface ReleaseFolder {
  address: string;
  /** Refused until then. */
  open: () => void;
  close: () => Promise<void>;
}

/** A release folder on this computer. Its newer version is a script that writes where it was started from. */
async function releaseFolder(marker: string): Promise<ReleaseFolder> {
  const program = `#!/bin/sh\nprintf %s "$0" > '${marker}'\n`;
  const sha512 = createHash('sha512').update(program).digest('base64');
  const name = 'VirNucPro-Desktop-9.9.9.AppImage';
  const latest = [
    'version: 9.9.9',
    'files:',
    `  - url: ${name}`,
    `    sha512: ${sha512}`,
    `    size: ${program.length}`,
    `path: ${name}`,
    `sha512: ${sha512}`,
    `releaseDate: '2030-01-01T00:00:00.000Z'`,
  ].join('\n');
  let isOpen = false;
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '', 'http://localhost').pathname;
    const body = /^\/latest.*\.yml$/.test(path) ? latest : path === `/${name}` ? program : null;
    response.statusCode = isOpen ? (body === null ? 404 : 200) : 503;
    response.end(isOpen ? body : undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => {
      isOpen = true;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Names of all files with their times of change. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    files.sort().map(async (file) => `${file.slice(folder.length)} ${(await stat(file)).mtimeMs}`),
  );
}

test('the packed app runs from a folder that it may not write to, and goes on with a run from another', async ({
  start,
  places,
  host,
}) => {
  test.skip(
    host === 'electron' || process.platform !== 'linux',
    'Not run, since the folder has no Electron in it.',
  );
  const { program, resources } = await packInto(join(places.files, 'first place'));

  const fuses = await getCurrentFuseWire(program);
  const isOn = (option: FuseV1Options) => Number(fuses[option]) === FUSE_ON;
  expect(
    [FuseV1Options.EnableEmbeddedAsarIntegrityValidation, FuseV1Options.OnlyLoadAppFromAsar].map(isOn),
  ).toEqual([true, true]);
  for (const option of [
    FuseV1Options.RunAsNode,
    FuseV1Options.EnableCookieEncryption,
    FuseV1Options.EnableNodeOptionsEnvironmentVariable,
    FuseV1Options.EnableNodeCliInspectArguments,
    FuseV1Options.GrantFileProtocolExtraPrivileges,
  ]) {
    expect(isOn(option), FuseV1Options[option]).toBe(false);
  }
  const marker = join(places.files, 'installed');
  const releases = await releaseFolder(marker);
  // As it was packed, it asks nobody.
  expect(await readFile(join(resources, 'app-update.yml'), 'utf8')).toContain('virnucpro.invalid');
  await writeFile(join(resources, 'app-update.yml'), `provider: generic\nurl: ${releases.address}\n`);
  const shipped = await filesBelow(resources);
  expect(
    shipped.filter((file) => /\.test\.|requirements-test|\.map |__pycache__|node_modules/.test(file)),
  ).toEqual([]);
  expect(shipped.join('\n')).toContain('/app.asar.unpacked/dist/main/storeHost.mjs');

  await execa('chmod', ['-R', 'a-w', resources]);
  const appImage = join(places.files, 'VirNucPro Desktop.AppImage');
  await writeFile(appImage, 'the program of now');
  const env = {
    VIRNUCPRO_PYTHON: join(root, 'python-backend', '.venv', 'bin', 'python'),
    APPIMAGE: appImage,
    // A packaged program takes its code from nowhere else.
    VIRNUCPRO_HOME: places.files,
    XDG_CACHE_HOME: undefined,
  };
  const packed = (folder: string) => ({ appFolder: join(folder, 'app.asar'), resources: folder, env });
  const app = await start(packed(resources));
  const page = await firstWindow(app);
  const input = join(places.files, 'contigs.fasta');
  await writeSample(input, 10);
  // Nothing is said of a release folder that does not answer.
  await expect.poll(() => shellLog(places), { timeout: 60_000 }).toContain('No answer about newer versions');
  releases.open();
  await startDroppedRun(page, [input], 'Moved run');
  await partsDone(page);
  await answerQuestions(app, 'Quit now');
  await quit(app);
  expect(await app.ended(), app.said).toBe(0);
  const kept = finishedParts(join(places.files, 'Moved run_DEMO'));
  expect(kept.length).toBeGreaterThan(0);
  // Root may write anywhere, so what is there is looked at as well.
  expect(await filesBelow(resources)).toEqual(shipped);

  const elsewhere = join(places.files, 'another place');
  await execa('chmod', ['-R', 'u+w', resources]);
  await rename(resources, elsewhere);
  const again = await start(packed(elsewhere));
  const next = await again.page();
  await next.getByRole('link', { name: 'Runs', exact: true }).click({ timeout: 60_000 });
  await next.getByRole('row', { name: /Moved run/ }).click();
  await next.getByRole('button', { name: /^(Resume|Continue)$/ }).click();
  await isDone(next);
  expect(finishedParts(join(places.files, 'Moved run_DEMO'))).toEqual(expect.arrayContaining(kept));
  // The guide is inside, with its pictures.
  await goTo(next, 'Help');
  await next.getByRole('link', { name: 'First run' }).click();
  const picture = next.getByRole('img', { name: 'The set-up at work' });
  await picture.scrollIntoViewIfNeeded();
  await expect
    .poll(() => picture.evaluate((image: { naturalWidth: number }) => image.naturalWidth))
    .toBeGreaterThan(0);

  // A newer version is fetched and put in the place of this one, each at the user's word.
  await next.getByRole('button', { name: 'Download' }).click();
  await expect(next.getByText('Version 9.9.9 is downloaded')).toBeVisible({ timeout: 60_000 });
  expect(await readFile(appImage, 'utf8')).toBe('the program of now');
  await next.getByRole('button', { name: 'Restart and install' }).click();
  expect(await again.ended(), again.said).toBe(0);
  await expect.poll(() => readFile(marker, 'utf8').catch(() => ''), { timeout: 60_000 }).toBe(appImage);
  await releases.close();

  await rm(places.data, { recursive: true });
  const smoke = await start({ ...packed(elsewhere), args: ['--smoke-test'] });
  expect(await smoke.ended(), smoke.said).toBe(0);
  expect(smoke.said).toContain('The window is connected.');
  expect(smoke.said).toContain('This installation gives the expected answers');
  expect(await readFile(join(places.data, 'logs', 'shell.log'), 'utf8')).toContain('Smoke test');
});
