/**
 * Tests the packed app, with a folder of ours instead of Electron's own files: it has the files that
 * electron-builder puts there, and is started from a read-only folder, then from another one.
 */
import { statSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { extractAll } from '@electron/asar';
import { execa } from 'execa';
import { writeSample } from '../support/inputs.ts';
import { finishedParts } from '../support/runDatabase.ts';
import { goTo, isDone, partsDone } from '../support/window.ts';
import { expect, firstWindow, test } from './support/fixtures.ts';
import { packAround } from '../../build/pack/testing/madeUpElectron.ts';
import { allFiles, doubles, fusesOn, unlisted } from '../../build/pack/testing/readPackage.ts';
import { answerQuestions, quit, startDroppedRun } from './support/steps.ts';

const root = join(import.meta.dirname, '..', '..');
/** Packs into a folder as it would be unpacked, except that the archive is replaced by plain files. */
async function packInto(folder: string): Promise<{ program: string; resources: string }> {
  await packAround(folder, 'linux', 'dir');
  const unpacked = join(folder, 'linux-unpacked');
  const resources = join(unpacked, 'resources');
  expect(unlisted(resources)).toEqual([]);
  const archive = join(resources, 'app.asar');
  await rename(archive, join(folder, 'app.asar'));
  await rename(`${archive}.unpacked`, join(folder, 'app.asar.unpacked'));
  extractAll(join(folder, 'app.asar'), archive);
  expect(doubles(unpacked)).toEqual([]);
  await rename(join(folder, 'app.asar.unpacked'), `${archive}.unpacked`);
  return { program: join(unpacked, 'virnucpro-desktop'), resources };
}

/** Names of all files with their modification times. */
const filesBelow = (folder: string): string[] =>
  allFiles(folder).map((file) => `${file.slice(folder.length)} ${statSync(file).mtimeMs}`);

test('the packed app runs from a read-only folder, and continues a run after a start from another', async ({
  start,
  places,
  host,
}) => {
  test.skip(
    host === 'electron' || process.platform !== 'linux',
    'Not run, since the folder has no Electron in it.',
  );
  const { program, resources } = await packInto(join(places.files, 'first place'));

  expect(await fusesOn(program)).toEqual(['EnableEmbeddedAsarIntegrityValidation', 'OnlyLoadAppFromAsar']);
  const shipped = filesBelow(resources);
  expect(
    shipped.filter((file) => /\.test\.|requirements-test|\.map |__pycache__|node_modules/.test(file)),
  ).toEqual([]);
  expect(shipped.join('\n')).toContain('/app.asar.unpacked/dist/main/storeHost.mjs');

  await execa('chmod', ['-R', 'a-w', resources]);
  const env = {
    VIRNUCPRO_PYTHON: join(root, 'python-backend', '.venv', 'bin', 'python'),
    // A packaged program must ignore this and load its code only from its own folder.
    VIRNUCPRO_HOME: places.files,
    XDG_CACHE_HOME: undefined,
  };
  const packed = (folder: string) => ({ appFolder: join(folder, 'app.asar'), resources: folder, env });
  const app = await start(packed(resources));
  const page = await firstWindow(app);
  const input = join(places.files, 'contigs.fasta');
  await writeSample(input, 10);
  await startDroppedRun(page, [input], 'Moved run');
  await partsDone(page);
  await answerQuestions(app, 'Quit now');
  await quit(app);
  expect(await app.ended(), app.output).toBe(0);
  const kept = finishedParts(join(places.files, 'Moved run_NOT_FOR_RESEARCH'));
  expect(kept.length).toBeGreaterThan(0);
  // Root may write anywhere, so the test also compares the files.
  expect(filesBelow(resources)).toEqual(shipped);

  const elsewhere = join(places.files, 'another place');
  await execa('chmod', ['-R', 'u+w', resources]);
  await rename(resources, elsewhere);
  const again = await start(packed(elsewhere));
  const next = await again.page();
  await next.getByRole('link', { name: 'Runs', exact: true }).click({ timeout: 60_000 });
  await next.getByRole('row', { name: /Moved run/ }).click();
  await next.getByRole('button', { name: /^(Resume|Continue)$/ }).click();
  await isDone(next);
  expect(finishedParts(join(places.files, 'Moved run_NOT_FOR_RESEARCH'))).toEqual(
    expect.arrayContaining(kept),
  );
  // The package contains the guide with its pictures.
  await goTo(next, 'Help');
  await next.getByRole('link', { name: 'First run' }).click();
  const picture = next.getByRole('img', { name: 'The set-up at work' });
  await picture.scrollIntoViewIfNeeded();
  await expect
    .poll(() => picture.evaluate((image: { naturalWidth: number }) => image.naturalWidth))
    .toBeGreaterThan(0);

  await quit(again);
  expect(await again.ended(), again.output).toBe(0);
});
