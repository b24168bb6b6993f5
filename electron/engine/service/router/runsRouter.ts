import { appError, AppFailure } from '../../../contract/errors.ts';
import type { RunRequest } from '../../../contract/rpc/runs.ts';
import { compareExample, exampleRequest } from '../../run/exampleRun.ts';
import { collectInputs } from '../../inputs/collectInputs.ts';
import { chooseRunFolder } from '../../run/begin/createRun.ts';
import { estimateRun } from '../questions/estimateRun.ts';
import { deleteRunFiles, runFolderSize } from '../questions/folderContents.ts';
import { inputStatuses } from '../questions/inputStatus.ts';
import { unwrap } from '../../../contract/result.ts';
import { readLog } from '../questions/readLog.ts';
import { toRunEvent } from '../runs/runEvents.ts';
import type { Service } from '../service.ts';
import { partStatuses } from '../questions/partStatus.ts';
import { throughputOf } from '../questions/throughput.ts';
import type { PathPolicy } from '../window/windowContext.ts';
import { calls } from './implementer.ts';
import { join } from 'node:path';

export function runsRouter(service: Service) {
  const { catalog, control, known, open, watch } = service;
  const runs = calls.runs;
  const read = <Answer>(runId: string, ask: Parameters<typeof open.read<Answer>>[1]): Promise<Answer> =>
    open.read(catalog.folder(runId), ask);
  const checkRequest = ({ inputs, outputDir, model }: RunRequest, policy: PathPolicy): void => {
    const modelPath = /[\\/]/.test(model) ? [model] : [];
    known.check([...inputs, ...modelPath, ...(outputDir === undefined ? [] : [outputDir])], policy);
  };

  return {
    watchAll: runs.watchAll.handler(({ signal }) => service.list.watch(signal)),
    inspect: runs.inspect.handler(({ input, context: { window }, signal }) => {
      known.check(input.paths, window.paths);
      return service.inspections.inspect(input.paths, input.chunkLength, signal);
    }),
    estimate: runs.estimate.handler(async ({ input, context: { window } }) => {
      const { request } = input;
      checkRequest(request, window.paths);
      const paths = unwrap(await collectInputs(request.inputs)).paths;
      const defaultParent = service.resultsParent(request);
      const folder = await chooseRunFolder({ request, defaultParent, freeName: true }, paths);
      return estimateRun({ ...input, folder }, service.gate, service.speeds);
    }),
    create: runs.create.handler(async ({ input, context: { window } }) => {
      checkRequest(input, window.paths);
      return { runId: await control.create(input, service.resultsParent(input)) };
    }),
    runExample: runs.runExample.handler(async () => {
      const { paths } = service.engine;
      const folder = join(paths.dataDir, 'example');
      const before = catalog.in(folder);
      if (before && control.isWanted(before.runId)) return { runId: before.runId };
      return { runId: await control.create(exampleRequest(paths, folder), paths.dataDir) };
    }),
    checkExample: runs.checkExample.handler(({ input }) => {
      const { folder, plan, state } = catalog.find(input.runId);
      if (state.phase !== 'done') throw new AppFailure(appError('usage', 'The example is not done yet.'));
      return compareExample(service.engine.paths, folder, plan.precision);
    }),
    open: runs.open.handler(async ({ input, context: { window } }) => {
      known.check([input.folder], window.paths);
      return { runId: (await catalog.add(input.folder)).runId };
    }),
    watch: runs.watch.handler(({ input, signal }) => watch.watch(input.runId, signal)),
    throughput: runs.throughput.handler(({ input }) => read(input.runId, throughputOf)),
    events: runs.events.handler(({ input }) =>
      read(input.runId, async (store) =>
        (await store.pageEvents(input.limit, input.beforeId)).map(toRunEvent),
      ),
    ),
    inputs: runs.inputs.handler(async ({ input }) => {
      const items = await read(input.runId, inputStatuses);
      return { total: items.length, items: items.slice(input.offset, input.offset + input.limit) };
    }),
    parts: runs.parts.handler(async ({ input }) => {
      const { input: number, state, offset, limit } = input;
      return partStatuses(
        await read(input.runId, (store) => store.pageParts({ input: number, state, offset, limit })),
      );
    }),
    pause: runs.pause.handler(({ input }) => {
      control.pause(input.runId);
    }),
    drain: runs.drain.handler(({ input }) => {
      control.drain(input.runId);
    }),
    resume: runs.resume.handler(({ input }) => {
      control.resume(input.runId);
    }),
    stop: runs.stop.handler(({ input }) => {
      control.stop(input.runId);
    }),
    cancel: runs.cancel.handler(({ input }) => control.cancel(input.runId)),
    retry: runs.retry.handler(({ input }) => control.retry(input.runId, input.parts, input.smallerBatches)),
    skip: runs.skip.handler(({ input }) => control.skip(input.runId, input.parts)),
    includeDevice: runs.includeDevice.handler(({ input }) =>
      control.includeDevice(input.runId, input.device, input.included),
    ),
    moveInQueue: runs.moveInQueue.handler(({ input }) => {
      control.move(input.runId, input.position);
    }),
    rename: runs.rename.handler(({ input }) => control.rename(input.runId, input.name)),
    folderSize: runs.folderSize.handler(({ input }) => runFolderSize(catalog.folder(input.runId))),
    remove: runs.remove.handler(async ({ input }) => {
      const { files, runId } = input;
      control.queue.remove(runId);
      await control.withExclusiveFolder(runId, async (folder) => {
        if (files !== 'keep') await deleteRunFiles(folder, files);
        if (files !== 'work') await catalog.forget(runId);
      });
      if (files === 'work') await catalog.refresh(runId);
    }),
    readLog: runs.readLog.handler(({ input }) =>
      readLog(catalog.folder(input.runId), input.path, input.lines),
    ),
  };
}
