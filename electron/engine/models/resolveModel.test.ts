import { cp, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeEach, describe, expect, it } from 'vitest';
import { unwrap } from '../../contract/errors.ts';
import type { ModelManifest } from '../../contract/model.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { APP_PATHS, RANDOM_MODEL } from '../testing/realFiles.ts';
import { temporaryFolder, testContext } from '../testing/testContext.ts';
import { readManifest, weightsFolder } from './modelFolder.ts';
import { findModel, modelFolderOf, resolveModel, resolveSecondModel } from './resolveModel.ts';
import { verifyModel } from './weights.ts';

const BLOB = '05424f2a4c8a54450a2dcca24ca1f089332afa91';

let folder: string;
let paths: AppPaths;

beforeEach(() => {
  folder = temporaryFolder();
  paths = { ...APP_PATHS, dataDir: folder };
});

/** Puts random weights in the place of a published model, as a stand-in for gigabytes. */
async function putPublished(name: string): Promise<string> {
  const target = join(folder, 'weights', name);
  await cp(RANDOM_MODEL, target, { recursive: true });
  return target;
}

const { environment } = testContext();

/** Describes a model otherwise. */
async function describeAs(target: string, change: (manifest: ModelManifest) => unknown): Promise<void> {
  const manifest = unwrap(await readManifest(target));
  change(manifest);
  await writeFile(join(target, 'model.json'), JSON.stringify(manifest));
}

describe('a model that is present', () => {
  it('is the teaching model, with its notice', async () => {
    const model = await resolveModel('teaching', paths);
    expect(model).toMatchObject({
      ok: true,
      value: {
        chunkLength: 500,
        planModel: { name: 'teaching', notice: 'teaching model, not for research' },
      },
    });
  });

  it('has the same hash as in the Python backend', async () => {
    const { planModel } = unwrap(await resolveModel('teaching', paths));
    const verify = ['-m', 'virnucpro_backend.weights', 'verify', planModel.folder];
    const { stdout } = await execa(environment.interpreter, verify, {
      env: { PYTHONPATH: environment.source },
    });
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
      type: 'done',
      model_hash: planModel.hash,
    });
  });

  it('is found by its folder', async () => {
    const target = await putPublished('mine');
    expect(await resolveModel(target, paths)).toMatchObject({
      ok: true,
      value: { planModel: { folder: target } },
    });
  });
});

describe('a head file', () => {
  it('uses the published encoders, and has a hash of its own', async () => {
    const published = await putPublished('500');
    const head = join(folder, 'my head.pth');
    await cp(join(published, '500_model.pth'), head);
    await writeFile(head, Buffer.concat([await readFile(head), Buffer.from('changed')]));
    const base = unwrap(await resolveModel('500', paths));
    const own = unwrap(await resolveModel(head, paths));
    expect(own.planModel.hash).not.toBe(base.planModel.hash);
    expect(unwrap(await readManifest(own.planModel.folder))).toMatchObject({
      norm_bands: null,
      files: { esm2: { path: '../500/esm2_demo.pt' } },
    });
    // A resumed run finds it by its own folder.
    expect(unwrap(await resolveModel(own.planModel.folder, paths))).toEqual(own);
    expect((await verifyModel(environment, own.planModel.folder)).ok).toBe(true);
  });

  it('that belongs to a published model brings the chunk length with it, whatever its name', async () => {
    await putPublished('500');
    const head = join(folder, 'renamed.pth');
    await writeFile(head, 'weights\n');
    const resources = join(folder, 'resources');
    await mkdir(resources);
    const list = await readFile(join(paths.resources, 'models.json'), 'utf8');
    // The output of `printf 'weights\n' | git hash-object --stdin`, in the place of the hash of the 300-bp
    // classifier.
    await writeFile(
      join(resources, 'models.json'),
      list.replace('a0b5b85e7c1e44f00cde146d091beb82b2c8e855', BLOB),
    );
    expect(await resolveModel(head, { ...paths, resources })).toMatchObject({ value: { chunkLength: 300 } });
    await writeFile(head, 'other weights\n');
    expect(await resolveModel(head, { ...paths, resources })).toMatchObject({ value: { chunkLength: 500 } });
  });

  it('needs the published encoders', async () => {
    const head = join(folder, 'head.pth');
    await writeFile(head, 'x');
    expect(await resolveModel(head, paths)).toMatchObject({ ok: false, error: { code: 'model_missing' } });
  });
});

describe('the model of a second look', () => {
  async function secondOf(choice: string, length: number) {
    return resolveSecondModel(unwrap(await resolveModel(choice, paths)), length, paths);
  }

  async function describe500And300(change: (manifest: ModelManifest) => void = () => undefined) {
    for (const name of ['500', '300'])
      await describeAs(await putPublished(name), (manifest) =>
        Object.assign(manifest, { name, title: name, chunk_length: Number(name) }),
      );
    await describeAs(join(folder, 'weights', '300'), change);
  }

  it('is the one published for its chunks, and none where the model itself judges them', async () => {
    await describe500And300();
    expect(await secondOf('500', 300)).toMatchObject({ ok: true, value: { name: '300' } });
    expect(await secondOf('500', 250)).toEqual({ ok: true, value: undefined });
    expect(await secondOf('teaching', 300)).toEqual({ ok: true, value: undefined });
    await rm(join(folder, 'weights', '300'), { recursive: true });
    expect(await secondOf('500', 300)).toMatchObject({
      error: { code: 'model_missing', nextStep: expect.stringContaining('models get 300') as string },
    });
  });

  it('must have the same encoders', async () => {
    await describe500And300(({ files }) => (files.esm2.sha256 = '0'.repeat(64)));
    expect(await secondOf('500', 300)).toMatchObject({ ok: false, error: { code: 'model_damaged' } });
  });
});

describe('refusals', () => {
  it('says what to do about missing weights', async () => {
    expect(await resolveModel('500', paths)).toMatchObject({
      ok: false,
      error: {
        code: 'model_missing',
        nextStep: expect.stringContaining('virnucpro models get 500') as string,
      },
    });
  });

  it('finds files of the wrong size', async () => {
    const target = await putPublished('300');
    await truncate(join(target, '500_model.pth'), 100);
    expect(await resolveModel('300', paths)).toMatchObject({ ok: false, error: { code: 'model_damaged' } });
  });

  it('finds files with the wrong content when asked to read them', async () => {
    const target = await putPublished('300');
    const path = join(target, '500_model.pth');
    const bytes = await readFile(path);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    await writeFile(path, bytes);
    expect(await verifyModel(environment, target)).toMatchObject({
      ok: false,
      error: { code: 'model_damaged', cause: expect.stringContaining('500_model.pth') as string },
    });
  });

  it.each([
    ['not JSON', '{', 'model_damaged'],
    ['of another version', '{"schema": 2}', 'model_damaged'],
  ])('a model.json that is %s', async (_, content, code) => {
    const target = await putPublished('mine');
    await writeFile(join(target, 'model.json'), content);
    expect(await resolveModel(target, paths)).toMatchObject({ ok: false, error: { code } });
  });

  it('refuses file paths that lead outside the folders of the models', async () => {
    const target = await putPublished('mine');
    for (const escape of ['../../secret', '/etc/passwd', 'a/../../b', 'C:\\x', '../..', 'a//b/../c']) {
      await cp(join(RANDOM_MODEL, 'model.json'), join(target, 'model.json'));
      await describeAs(target, ({ files }) => (files.head.path = escape));
      expect(await resolveModel(target, paths)).toMatchObject({ error: { code: 'model_damaged' } });
    }
  });

  it.each(['nonsense', '/no/such/folder'])('%s', async (choice) => {
    expect(await resolveModel(choice, paths)).toMatchObject({ ok: false, error: { code: 'model_unknown' } });
  });
});

describe('the model of a run', () => {
  it('is the teaching model of this installation, wherever it was when the run started', async () => {
    const mounts = ['.mount_a', '.mount_b'].map((name) => join(folder, name, 'resources'));
    const [first, second] = mounts.map((resources) => ({ ...paths, resources }));
    if (!first || !second) throw new Error('two mounts');
    for (const resources of mounts) {
      await cp(join(paths.resources, 'teaching-model'), join(resources, 'teaching-model'), {
        recursive: true,
      });
    }
    const { planModel } = unwrap(await resolveModel('teaching', first));
    await rm(first.resources, { recursive: true });

    const now = modelFolderOf(planModel, second);
    expect(await resolveModel(now, second)).toMatchObject({
      ok: true,
      value: { planModel: { hash: planModel.hash } },
    });
    // The path as another operating system recorded it.
    expect(
      modelFolderOf({ name: 'teaching', folder: String.raw`C:\gone\resources\teaching-model` }, second),
    ).toBe(now);
  });

  it('is found by its hash among the weights of another computer, and named if it is missing', async () => {
    const teaching = unwrap(await resolveModel('teaching', paths));
    const elsewhere = {
      ...teaching.planModel,
      name: 'ours',
      folder: join(folder, 'of another computer', 'ours'),
    };
    const bare = { ...paths, resources: join(folder, 'no models'), dataDir: join(folder, 'other data') };
    expect(await findModel(elsewhere, bare)).toMatchObject({ ok: false, error: { code: 'model_missing' } });
    const here = join(weightsFolder(bare), 'called otherwise');
    await cp(join(paths.resources, 'teaching-model'), here, { recursive: true });
    expect(await findModel(elsewhere, bare)).toMatchObject({
      ok: true,
      value: { planModel: { folder: here } },
    });
    const other = { ...elsewhere, hash: '0'.repeat(64) };
    expect(await findModel(other, bare)).toMatchObject({ ok: false, error: { code: 'model_missing' } });
  });

  it('stays in the folder that the user chose', () => {
    const own = { name: 'teaching', folder: join(folder, 'my models', 'like the bundled one') };
    expect(modelFolderOf(own, paths)).toBe(own.folder);
    expect(modelFolderOf({ name: '500', folder: '/weights/500' }, paths)).toBe('/weights/500');
  });
});
