import { unwrap, usage } from '../../../contract/errors.ts';
import type { RunRequest } from '../../../contract/rpc/runs.ts';
import { exampleRequest } from '../../run/exampleRun.ts';
import { collectInputs, type Walk } from '../../inputs/collectInputs.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { namedPaths } from '../runs/runCatalog.ts';
import { resolveModel } from '../../models/resolveModel.ts';
import { chooseRunFolder } from '../../run/begin/createRun.ts';
import { isRunSound, verifyRun } from '../../run/verifyRun.ts';
import { missingResults } from '../../run/wholeRun.ts';
import { estimateRun } from '../questions/estimateRun.ts';
import { deleteRunFiles, runFolderSize, readLog, resultFiles } from '../questions/runFiles.ts';
import { givenUpParts, inputStatuses, unusableInputs } from '../questions/inputStatus.ts';
import { toRunEvent } from '../runs/runWatch.ts';
import type { Service } from '../service.ts';
import { deviceHistoryOf } from '../questions/deviceHistory.ts';
import { ExpectedSharesOfRuns } from '../questions/expectedShares.ts';
import { RUN_DATABASE } from '../../../contract/folderNames.ts';
import type { CallContext, PathPolicy } from '../window/windowContext.ts';
import { implement } from '@orpc/server';
import { contract } from '../../../contract/index.ts';
import { join } from 'node:path';

export function runsRouter(service: Service) {
  const { catalog, control, known, open, watch } = service;
  const runs = implement(contract.runs).$context<CallContext>();
  const read = <Answer>(runId: string, ask: Parameters<typeof open.read<Answer>>[1]): Promise<Answer> =>
    open.read(catalog.folder(runId), ask);
  /** Without a root, a folder that the user chose includes the targets of its links. */
  const walkOf = (policy: PathPolicy, signal?: AbortSignal): Walk => ({
    most: { files: LIMITS.inputs, visited: LIMITS.visited },
    ...(policy.root === null ? {} : { mayFollow: (link) => known.allows(link, policy) }),
    ...(signal ? { signal } : {}),
  });
  const checkRequest = async (request: RunRequest, policy: PathPolicy): Promise<void> => {
    const { outputDir } = request;
    await known.check([...namedPaths(request), ...(outputDir === undefined ? [] : [outputDir])], policy);
  };

  const expected = new ExpectedSharesOfRuns();
  /** While a run computes, the newest part of its database is in a journal beside it. */
  const filesOf = (runId: string) =>
    resultFiles(catalog.folder(runId), control.queue.active === runId ? [] : [RUN_DATABASE]);
  const mustBeAmong = async (name: string, files: ReturnType<typeof resultFiles>): Promise<void> => {
    if ((await files).every((file) => file.name !== name))
      throw usage(`${name} is not among the files of this run.`);
  };

  return {
    watchAll: runs.watchAll.handler(({ signal }) => service.list.watch(signal)),
    inspect: runs.inspect.handler(async ({ input, context: { window }, signal }) => {
      await known.check(input.paths, window.paths);
      return service.inspections.inspect(input.paths, input, walkOf(window.paths, signal));
    }),
    estimate: runs.estimate.handler(async ({ input, context: { window }, signal }) => {
      const { request } = input;
      await checkRequest(request, window.paths);
      const { paths } = unwrap(await collectInputs(request.inputs, walkOf(window.paths, signal)));
      const defaultParent = await service.resultsParent(request, window.paths);
      const model = await resolveModel(request.model, service.engine.paths);
      const folder = await chooseRunFolder(
        { request, defaultParent, freeName: true },
        paths,
        model.ok ? model.value.planModel : { notice: null },
      );
      const { repairs = [], minLength, geneticCode } = request;
      const contents = () => service.inspections.contents(paths, { repairs, minLength, geneticCode });
      return estimateRun({ ...input, folder, contents }, service.pythonEnvironment, service.speeds);
    }),
    create: runs.create.handler(async ({ input, context: { window } }) => {
      await checkRequest(input, window.paths);
      const defaultParent = await service.resultsParent(input, window.paths);
      return { runId: await control.create(input, defaultParent, walkOf(window.paths)) };
    }),
    runExample: runs.runExample.handler(async () => {
      const { paths } = service.engine;
      const folder = join(paths.dataDir, 'example');
      const before = catalog.in(folder);
      if (before && control.isWanted(before.runId)) return { runId: before.runId };
      return { runId: await control.create(await exampleRequest(paths, folder), paths.dataDir) };
    }),
    open: runs.open.handler(async ({ input, context: { window } }) => {
      await known.check([input.folder], window.paths);
      if (await known.isUpload(input.folder)) {
        throw usage(
          'What a browser has sent cannot be opened as a run.',
          'Copy the run to the server by other means.',
        );
      }
      return { runId: (await catalog.add(input.folder)).runId };
    }),
    watch: runs.watch.handler(async ({ input, signal }) => {
      // The window may show a run that the command line has just begun.
      if (!catalog.has(input.runId)) await catalog.takeOthers().catch(() => undefined);
      return watch.watch(input.runId, signal);
    }),
    deviceHistory: runs.deviceHistory.handler(({ input }) => read(input.runId, deviceHistoryOf)),
    expectedShares: runs.expectedShares.handler(async ({ input: { runId } }) =>
      catalog.find(runId).state.phase === 'done' ? null : expected.of(runId, (ask) => read(runId, ask)),
    ),
    files: runs.files.handler(async ({ input }) => {
      const { state, folder, plan, request } = catalog.find(input.runId);
      const missing = state.phase === 'done' ? missingResults(folder, plan.model, request) : [];
      return [...missing.map((name) => ({ name, bytes: null })), ...(await filesOf(input.runId))];
    }),
    openFile: runs.openFile.handler(async ({ input, context: { window } }) => {
      if (window.shell !== 'electron') throw usage('A browser downloads the file instead.');
      const folder = catalog.folder(input.runId);
      // The database is excluded: no other program should write to it.
      await mustBeAmong(input.name, resultFiles(folder, []));
      unwrap(await window.desktop.openFile(join(folder, input.name)));
    }),
    download: runs.download.handler(async ({ input, context: { window } }) => {
      if (window.shell !== 'browser') throw usage('The desktop app shows the folder instead.');
      await mustBeAmong(input.name, filesOf(input.runId));
      return { downloadPath: window.downloads.lend(join(catalog.folder(input.runId), input.name)) };
    }),
    events: runs.events.handler(({ input }) =>
      read(input.runId, async (store) =>
        (await store.pageEvents(input.limit, input.beforeId)).map(toRunEvent),
      ),
    ),
    inputs: runs.inputs.handler(async ({ input }) => {
      const [items, unusable] = await read(input.runId, (store) =>
        Promise.all([inputStatuses(store), unusableInputs(store)]),
      );
      return {
        total: items.length,
        items: items.slice(input.offset, input.offset + input.limit),
        unusable,
      };
    }),
    parts: runs.parts.handler(({ input }) => read(input.runId, givenUpParts)),
    pause: runs.pause.handler(({ input }) => {
      control.pause(input.runId);
    }),
    setGoal: runs.setGoal.handler(({ input }) =>
      control.withSession(input.runId, (run) => run.setGoal(input.goal)),
    ),
    resume: runs.resume.handler(({ input: { runId, devices } }) => {
      control.resume(runId, devices);
    }),
    cancel: runs.cancel.handler(({ input }) => control.cancel(input.runId)),
    retry: runs.retry.handler(({ input }) => control.retry(input.runId, input.parts)),
    skip: runs.skip.handler(({ input }) => control.skip(input.runId, input.parts)),
    settleInput: runs.settleInput.handler(async ({ input: { runId, file, path, repairs }, context }) => {
      if (path !== null) await known.check([path], context.window.paths);
      await control.settleInput(runId, file, path, repairs);
    }),
    finishNow: runs.finishNow.handler(({ input }) => control.finishNow(input.runId)),
    includeDevice: runs.includeDevice.handler(({ input }) =>
      control.includeDevice(input.runId, input.device, input.included),
    ),
    annotate: runs.annotate.handler(({ input: { runId, name, ...annotation } }) =>
      control.withSession(runId, async ({ record }) => {
        const renamed = await record.rename(name);
        return renamed.ok ? record.annotate(annotation) : renamed;
      }),
    ),
    folderSize: runs.folderSize.handler(({ input }) => runFolderSize(catalog.folder(input.runId))),
    remove: runs.remove.handler(async ({ input }) => {
      const { files, runId } = input;
      control.queue.remove(runId);
      await control.withExclusiveFolder(runId, async (folder) => {
        if (files !== 'keep') await deleteRunFiles(folder, files);
        if (files !== 'work') await control.forget(runId);
      });
      if (files === 'work') await catalog.refresh(runId);
    }),
    verify: runs.verify.handler(async ({ input }) => {
      const files = await verifyRun(service.engine, catalog.folder(input.runId));
      return { sound: isRunSound(files), files };
    }),
    readLog: runs.readLog.handler(({ input }) =>
      readLog(catalog.folder(input.runId), input.path, input.lines),
    ),
  };
}
