import { setTimeout as sleep } from 'node:timers/promises';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appError, AppFailure, unwrap } from '../../contract/errors.ts';
import { checkThisComputer } from './computer/checks.ts';
import type { InspectedFile } from '../../contract/protocol/index.ts';
import { runRequestSchema, type RunRequest } from '../../contract/rpc/runs.ts';
import { outcome } from '../environment/testing/fakePython.ts';
import { putModel } from '../models/testing/putModel.ts';
import { createRun } from '../run/begin/createRun.ts';
import { SAMPLE, WITHOUT_PYTHON } from '../testing/testContext.ts';
import { threadsLeft } from '../store/storeThread.ts';
import { browseFolder } from './window/browseFolder.ts';
import { estimateRun } from './questions/estimateRun.ts';
import { deleteRunFiles, runFolderSize, readLog } from './questions/runFiles.ts';
import { isInside, realPath } from './window/knownPaths.ts';
import type { Service } from './service.ts';
import type { PathPolicy } from './window/windowContext.ts';
import { openTestService } from './testing/testService.ts';

let service: Service;
let folder: string;
/** Other test files, in the same process, may have left some. */
let threadsBefore: number;

beforeEach(async () => {
  threadsBefore = threadsLeft();
  ({ service, folder } = await openTestService());
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

async function writeInput(name: string, copies: number): Promise<string> {
  const sample = await readFile(SAMPLE, 'utf8');
  const path = join(folder, name);
  await writeFile(path, Array.from({ length: copies }, (_, i) => sample.replaceAll('>', `>${i}_`)).join(''));
  return path;
}

function request(input: string, more: Partial<RunRequest> = {}): RunRequest {
  return runRequestSchema.parse({ inputs: [input], model: 'teaching', devices: 'cpu:1', ...more });
}

async function create(input: string, more: Partial<RunRequest> = {}): Promise<string> {
  const wanted = request(input, more);
  return service.control.create(wanted, dirname(input));
}

function estimate(
  work: { chunks: number; frames: number; residues: number },
  asked: RunRequest,
  contents: () => Promise<string[]>,
) {
  const question = { ...work, request: asked, folder: join(folder, 'out'), contents };
  return estimateRun(question, service.pythonEnvironment, service.speeds);
}

/** Polls, because the condition may change without a change in the list of runs. */
async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await sleep(50);
}

const phase = (runId: string): string => service.catalog.find(runId).state.phase;

describe.skipIf(WITHOUT_PYTHON)('the service with real workers', () => {
  it('lets requested runs wait, and computes the one that is resumed after a pause', async () => {
    const input = await writeInput('long.fa', 6);
    const first = await create(input);
    const second = await create(input);
    const third = await create(input);
    expect([first, second, third].map((id) => service.control.queue.position(id))).toEqual([null, 0, 1]);
    expect(service.catalog.find(second).folder).toBe(`${service.catalog.find(first).folder}_2`);
    service.control.pause(first);
    await until(() => phase(first) === 'paused' && service.control.queue.active === null);
    // The devices are free for whatever the user wants them for.
    expect(phase(third)).toBe('created');
    service.control.resume(third);
    await until(() => phase(third) === 'done');
  });

  it('lets the next run of the queue go on with the model that the last has loaded', async () => {
    const input = await writeInput('short.fa', 1);
    const runs = [await create(input), await create(input), await create(input, { precision: 'fp32' })];
    await until(() => phase(runs[2] ?? '') === 'done' && service.control.queue.active === null);
    const folders = runs.map((runId) => service.catalog.find(runId).folder);
    const loaded = await Promise.all(
      folders.map(async (of) => {
        const { devices } = JSON.parse(await readFile(join(of, 'run.json'), 'utf8')) as {
          devices: { loadSeconds: number }[];
        };
        return devices.map(({ loadSeconds }) => loadSeconds > 0);
      }),
    );
    expect(loaded).toEqual([[true], [false], [true]]);
    const tables = await Promise.all(folders.slice(0, 2).map((of) => readFile(join(of, 'chunks.tsv'))));
    expect(tables[1]).toEqual(tables[0]);
  });

  it('creates no run and starts no thread after closing, even for a pending call', async () => {
    const input = await writeInput('short.fa', 1);
    const outputDir = join(folder, 'made late');
    const creating = create(input, { outputDir }).catch((reason: unknown) => reason);
    await service.close(1);
    expect(await creating).toBeInstanceOf(AppFailure);
    expect(existsSync(outputDir)).toBe(false);
    await until(() => threadsLeft() <= threadsBefore);
  });

  it('finds settings and runs again after a restart, and detects a missing folder', async () => {
    const done = await create(await writeInput('short.fa', 1));
    await until(() => phase(done) === 'done' && service.control.queue.active === null);
    await service.settings.change({ theme: 'dark' });
    const { viralSequences, otherSequences } = service.catalog.find(done);
    await service.close();

    ({ service } = await openTestService(folder));
    expect(service.settings.current.theme).toBe('dark');
    expect(service.catalog.find(done)).toMatchObject({
      state: { phase: 'done' },
      viralSequences,
      otherSequences,
      fraction: 1,
    });
    await rm(service.catalog.find(done).folder, { recursive: true });
    expect(await service.catalog.refresh(done)).toMatchObject({ missing: true, viralSequences });
  });

  it('explains why a run could not start, and starts it once the cause is fixed', async () => {
    const input = await writeInput('moving.fa', 1);
    const blocker = await create(await writeInput('long.fa', 6));
    const runId = await create(input);
    const content = await readFile(input);
    await rm(input);
    await service.control.cancel(blocker);
    await until(() => phase(runId) === 'paused');
    expect(service.catalog.find(runId).state).toMatchObject({ error: { code: 'input_not_found' } });
    await writeFile(input, content);
    service.control.resume(runId);
    await until(() => phase(runId) === 'done');
  });

  it('reads only the logs of the run, and deletes only its own files', async () => {
    const runId = await create(await writeInput('short.fa', 1), { keepWork: true });
    const runFolder = service.catalog.folder(runId);
    await until(() => phase(runId) === 'done' && service.control.queue.active === null);

    await appendFile(join(runFolder, 'logs', 'prepare.log'), 'one\ntwo\nthree\n');
    expect(readLog(runFolder, 'logs/prepare.log', 2)).toEqual({
      text: 'two\nthree',
      truncated: true,
    });
    await symlink('/etc/passwd', join(runFolder, 'logs', 'link.log'));
    const elsewhere = [
      '../run.db',
      'run.json',
      '/etc/passwd',
      'logs/../run.json',
      'logs/link.log',
      'logs/none',
    ];
    for (const path of elsewhere) expect(() => readLog(runFolder, path, 10), path).toThrow();

    await writeFile(join(runFolder, 'my notes.txt'), 'mine');
    const embeddings = join(runFolder, 'work/embeddings');
    await mkdir(embeddings, { recursive: true });
    await writeFile(join(embeddings, '000000.safetensors'), 'kept');
    const before = await runFolderSize(runFolder);
    const remove = (files: 'work' | 'all'): Promise<void> =>
      service.control.withExclusiveFolder(runId, () => deleteRunFiles(runFolder, files));
    await remove('work');
    const after = await runFolderSize(runFolder);
    expect(after.bytes).toBeLessThan(before.bytes);
    expect(await readdir(embeddings)).toEqual(['000000.safetensors']);
    expect(await readdir(runFolder)).toContain('sequences.tsv');
    await remove('all');
    expect(await readdir(runFolder)).toEqual(['my notes.txt']);
  });

  it('gives no estimate before it has measured, and then of a run that takes over an earlier one only what it computes', async () => {
    const [input, more] = [await writeInput('long.fa', 6), await writeInput('more.fa', 1)];
    const asked = { repairs: [] };
    const read: InspectedFile[] = [];
    for await (const event of service.inspections.inspect([input, more], asked))
      if (event.type === 'inspected') read.push(event);
    const file = read.find(({ path }) => path === input);
    const whole = file?.judged['500'];
    if (!file || !whole) throw new Error('long.fa was not read');
    const second = { ...whole, frames: whole.frames + 10, residues: whole.residues + 1_000 };
    const ask = (work: typeof whole, changes: Partial<RunRequest> = {}, inputs = [input]) =>
      estimate(work, request(input, changes), () => service.inspections.contents(inputs, asked));
    expect(await ask(whole)).toMatchObject({ seconds: null, blocker: null });

    const runId = await create(input, { order: 'file' });
    await until(() => phase(runId) === 'done' && service.control.queue.active === null);
    const { folder: earlier, plan } = service.catalog.find(runId);
    const again = { reuseEmbeddings: earlier, secondChunkLength: 300 };
    await expect.poll(async () => (await ask(whole)).seconds).not.toBeNull();
    const { seconds: rest } = await ask({ ...whole, frames: 10, residues: 1_000 });
    const alone = await ask(second, again);
    expect(alone).toMatchObject({ seconds: rest, blocker: null, computation: { order: plan.order } });
    expect((await ask(second, { ...again, residuesPerPart: 1 })).computation).toEqual(alone.computation);
    // A file after those of the earlier run changes none of its parts; one before them changes all.
    expect(await ask(second, again, [input, more])).toMatchObject({ seconds: rest });
    const { seconds: everything } = await ask(second);
    expect(await ask(second, again, [more, input])).toMatchObject({ seconds: everything });
    const other = plan.precision === 'fp32' ? 'bf16' : 'fp32';
    expect((await ask(second, { ...again, precision: other })).blocker).not.toBeNull();
    expect((await ask(second, { reuseEmbeddings: folder })).seconds).toBeNull();

    // The second look has so many chunks that an even sample of all would be cut otherwise.
    const judged = { ...file.judged, '500+300': { ...second, chunks: 1_000_000 } };
    const made = await createRun(await service.pythonEnvironment.context(), {
      request: request(input, again),
      defaultParent: join(folder, 'second'),
      inspected: () => Promise.resolve({ ...file, judged }),
    });
    const { order, firstRound, residuesPerPart } = plan;
    expect(unwrap(made).plan).toMatchObject({ earlier, order, firstRound, residuesPerPart });
  });

  it('estimates a model of the published size from the measured speed of the devices', async () => {
    const input = await writeInput('few.fa', 1);
    // Estimating reads no weights.
    const model = await putModel('published', service.engine.paths);
    const rates = {
      tokens_per_batch: 504,
      esm2_residues_per_second: 20,
      dnabert_s_frames_per_second: 1,
      products_residues_per_second: 25,
    };
    const report = { precision: 'fp32', verdict: 'works', figures: { rows: [rates] }, problem: null };
    const run = () => outcome({ stdout: JSON.stringify([report]) });
    const ask = (model: string) =>
      estimate(
        { chunks: 1, frames: 100, residues: 16_600 },
        request(input, { model, precision: 'fp32' }),
        () => Promise.resolve([]),
      );
    expect(await ask(model)).toMatchObject({ seconds: null, basis: null });
    const context = await service.pythonEnvironment.context();
    unwrap(await checkThisComputer(context, { check: 'speed' }, { run }));
    const { seconds, basis } = await ask(model);
    // 830 s of ESM-2 and 100 s of DNABERT-S, 30 % either way.
    expect(seconds?.low).toBeCloseTo(651);
    expect(seconds?.high).toBeCloseTo(1209);
    expect(basis).toMatchObject({ runs: null });
    expect(await ask('teaching')).toMatchObject({ seconds: null });
  });
});

it('lists the visible content of a folder, folders first', async () => {
  const root = join(folder, 'root');
  await mkdir(join(root, 'zebra'), { recursive: true });
  await writeFile(join(root, 'a10.fa'), '');
  await writeFile(join(root, 'a9.fa'), 'ACGT');
  await writeFile(join(root, '.hidden'), '');
  await symlink('/etc', join(root, 'escape'));
  const policy: PathPolicy = {
    root,
    allows: async (path) => isInside(await realPath(root), await realPath(path)),
    refusal: (path) => appError('input_unreadable', path),
  };
  const listing = await browseFolder(root, policy);
  expect(listing.parent).toBeNull();
  expect(listing.entries.map(({ name, isFolder, sizeBytes }) => [name, isFolder, sizeBytes])).toEqual([
    ['zebra', true, null],
    ['a9.fa', false, 4],
    ['a10.fa', false, 0],
  ]);
  await expect(browseFolder(join(root, '..'), policy)).rejects.toThrow();
});
