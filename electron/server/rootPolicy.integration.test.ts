import { call } from '@orpc/server';
import { randomUUID } from 'node:crypto';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runRequestSchema } from '../contract/rpc/runs.ts';
import { serviceRouter, type Service, type ServiceRouter, type WindowContext } from '../engine/index.ts';
import { openTestService } from '../engine/service/testing/testService.ts';
import { openRunStore } from '../engine/store/runStore.ts';
import { HOST_ENTRY } from '../engine/store/testing/storeFixture.ts';
import { DESCRIPTION, syntheticPlan } from '../engine/store/testing/syntheticRun.ts';
import { rootPolicy } from './requestGuard.ts';

const FASTA = '>a\nACGTACGTACGTACGTACGTACGTACGTACGTACGTACGT\n';

let service: Service;
let router: ServiceRouter;
let folder: string;
let root: string;
let outside: string;
let context: { window: WindowContext };

beforeEach(async () => {
  ({ service, folder } = await openTestService());
  router = serviceRouter(service);
  root = join(folder, 'root');
  outside = join(folder, 'outside');
  for (const path of [join(root, 'data'), join(outside, 'deep')]) await mkdir(path, { recursive: true });
  await writeFile(join(outside, 'secret.fa'), FASTA);
  await writeFile(join(outside, 'deep', 'secret.fa'), FASTA);
  const downloads = { place: () => Promise.reject(new Error()), offer: () => '', lend: () => '' };
  context = { window: { shell: 'browser', paths: await rootPolicy(root), downloads, sameComputer: true } };
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** A run whose input and model are, by its own description, outside the root. */
async function strangersRun(at: string): Promise<string> {
  const runId = randomUUID();
  await mkdir(at, { recursive: true });
  const plan = syntheticPlan(1);
  const inputs = plan.inputs.map((input) => ({ ...input, path: join(outside, 'secret.fa') }));
  const request = runRequestSchema.parse({ inputs: [outside], model: outside });
  const store = await openRunStore(at, {
    hostEntry: HOST_ENTRY,
    create: {
      plan: { ...plan, inputs, model: { ...plan.model, folder: outside } },
      description: { ...DESCRIPTION, runId, options: { request } },
    },
  });
  await store.close();
  return runId;
}

function estimate(path: string) {
  const request = runRequestSchema.parse({ inputs: [path], model: 'teaching', devices: 'cpu:1' });
  return call(router.runs.estimate, { request, frames: 1, residues: 1, chunks: 1 }, { context });
}

/** The answers of all calls that name the path. */
async function namingIt(path: string): Promise<string[]> {
  const request = runRequestSchema.parse({ inputs: [path], model: 'teaching', devices: 'cpu:1' });
  const here = { ...request, inputs: [join(root, 'data')] };
  const tries = [
    async () => {
      const events = await call(router.runs.inspect, { paths: [path] }, { context });
      await events.next();
    },
    () => estimate(path),
    () => call(router.runs.create, request, { context }),
    () => call(router.runs.create, { ...here, outputDir: path }, { context }),
    () => call(router.runs.create, { ...here, model: path }, { context }),
    () => call(router.runs.open, { folder: path }, { context }),
    () => call(router.computer.changeSettings, { outputFolder: path }, { context }),
    () => call(router.computer.browse, { folder: path }, { context }),
  ];
  return Promise.all(
    tries.map((attempt) =>
      attempt().then(
        () => 'done',
        (reason: unknown) => (reason as { data?: { cause?: string } }).data?.cause ?? String(reason),
      ),
    ),
  );
}

describe('--root', () => {
  it('is not widened by a run from somebody else', async () => {
    const strangers = join(root, 'stranger');
    const runId = await strangersRun(strangers);
    await writeFile(join(root, 'data', 'a.fa'), FASTA);
    expect(await call(router.runs.open, { folder: strangers }, { context })).toEqual({ runId });
    for (const path of [outside, join(outside, 'secret.fa'), join(outside, 'deep')]) {
      const answers = await namingIt(path);
      for (const answer of answers) expect(answer).toContain('is outside of');
    }
    expect(service.settings.current.outputFolder).toBeNull();
  });

  it('is not widened by a run that was uploaded', async () => {
    const upload = join(service.engine.paths.dataDir, 'uploads', randomUUID());
    await strangersRun(upload);
    await expect(call(router.runs.open, { folder: upload }, { context })).rejects.toMatchObject({
      data: { code: 'usage' },
    });
    expect(service.catalog.all()).toEqual([]);
    for (const answer of await namingIt(outside)) expect(answer).toContain('is outside of');
  });

  it('applies to links in a folder, also for files below a folder that is a link', async () => {
    await symlink(outside, join(root, 'data', 'linked'));
    await symlink(join(outside, 'secret.fa'), join(root, 'data', 'secret.fa'));
    await expect(estimate(join(root, 'data'))).rejects.toMatchObject({ data: { code: 'no_sequences' } });
    const inRoot = join(root, 'elsewhere');
    await mkdir(inRoot);
    await writeFile(join(inRoot, 'mine.fa'), FASTA);
    await symlink(inRoot, join(root, 'data', 'allowed'));
    expect((await estimate(join(root, 'data'))).outputDir).toContain('mine_predictions');
    for (const answer of await namingIt(join(root, 'data', 'linked')))
      expect(answer).toContain('is outside of');
  });

  it('applies to results beside the input, and to results that the user wants to open in another program', async () => {
    await writeFile(join(root, 'a.fa'), FASTA);
    const outputDir = async () => (await estimate(root)).outputDir;
    // The test's service has its own results folder outside the root; a server has it inside.
    const ownResults = join(folder, 'results');
    expect(await outputDir()).toContain(ownResults);
    await service.settings.change({ outputFolder: outside });
    expect(await outputDir()).toContain(ownResults);
    await service.settings.change({ outputFolder: join(root, 'mine') });
    expect(await outputDir()).toContain(join(root, 'mine'));
  });
});

it('without a root, paths that the user named for a run stay granted, but not paths that a run names itself', async () => {
  const none = { root: null, allows: () => Promise.resolve(false), refusal: context.window.paths.refusal };
  const strangers = join(folder, 'stranger');
  await strangersRun(strangers);
  const run = await service.catalog.add(strangers);
  await expect(service.known.check([outside], none)).rejects.toThrow();
  await service.known.check([strangers], none);
  await service.catalog.add(run.folder, [join(outside, 'deep')]);
  await service.close();

  ({ service } = await openTestService(folder));
  await service.known.check([join(outside, 'deep', 'secret.fa')], none);
  await expect(service.known.check([join(outside, 'secret.fa')], none)).rejects.toThrow();
  await expect(
    service.known.check([join(outside, 'deep', 'secret.fa')], context.window.paths),
  ).rejects.toThrow();
});
