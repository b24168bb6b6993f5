import { unwrap, usage } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import type { Settings } from '../../../contract/rpc/computer.ts';
import { freeBytes } from '../../devices/computerChecks.ts';
import { probeDevices } from '../../devices/probeDevices.ts';
import { lastCalibration } from '../../run/goal.ts';
import { listModels } from '../../models/listModels.ts';
import { resolveModel } from '../../models/resolveModel.ts';
import { isInside } from '../window/knownPaths.ts';
import { namedPaths } from '../runs/runCatalog.ts';
import { browseFolder } from '../window/browseFolder.ts';
import { withLastTest } from '../../devices/check/trial.ts';
import { checkSetUp, checkComputer, wholeCheck } from '../computer/computerCheck.ts';
import { diagnosticsText, latestShellLog } from '../computer/diagnostics.ts';
import { lookAtFolder } from '../../setup/offlineFolder.ts';
import { packableGpus } from '../../environment/install/setUpPlan.ts';
import { HERE } from '../../system/here.ts';
import type { Service } from '../service.ts';
import { homedir, hostname } from 'node:os';
import { implement } from '@orpc/server';
import { contract } from '../../../contract/index.ts';
import type { CallContext } from '../window/windowContext.ts';

const RUNS_IN_DIAGNOSTICS = 5;
const TROUBLES_IN_DIAGNOSTICS = 10;

export function computerRouter(service: Service) {
  const { engine, pythonEnvironment, settings, catalog, control, known, open, downloads } = service;
  const computer = implement(contract.computer).$context<CallContext>();

  return {
    info: computer.info.handler(({ context: { window } }) => ({
      version: engine.appVersion,
      shell: window.shell,
      platform: HERE.platform,
      dataDir: engine.paths.dataDir,
      root: window.paths.root,
      sameComputer: window.shell === 'electron' || window.sameComputer,
      hostName: hostname(),
    })),
    devices: computer.devices.handler(async () => {
      const context = await pythonEnvironment.context();
      return withLastTest(context, unwrap(await probeDevices(context.environment)));
    }),
    models: computer.models.handler(() => listModels(engine.paths)),
    check: computer.check.handler(() => checkComputer(engine, pythonEnvironment)),
    environment: computer.environment.handler(({ signal }) => pythonEnvironment.watch(signal)),
    setUpPython: computer.setUpPython.handler(() => {
      pythonEnvironment.setUp();
    }),
    cancelSetUp: computer.cancelSetUp.handler(() => {
      pythonEnvironment.cancelSetUp();
    }),
    freeSpace: computer.freeSpace.handler(async ({ input, context: { window } }) => {
      // Every window knows the program's own data folder anyway.
      if (input.folder !== engine.paths.dataDir) await known.check([input.folder], window.paths);
      return { bytes: await freeBytes(input.folder) };
    }),
    checks: computer.checks.handler(() => service.checks.last()),
    calibration: computer.calibration.handler(async ({ input, context: { window } }) => {
      await known.check(namedPaths({ inputs: [], model: input.model }), window.paths);
      return lastCalibration(
        engine.paths,
        unwrap(await resolveModel(input.model, engine.paths)).planModel.hash,
      );
    }),
    runCheck: computer.runCheck.handler(async function* ({ input, signal, context: { window } }) {
      if (input.check === 'speed' && control.queue.active !== null) throw usage(message('speed.run_at_work'));
      if (input.model !== undefined)
        await known.check(namedPaths({ inputs: [], model: input.model }), window.paths);
      yield* service.checks.start(input).follow(signal);
    }),
    getWeights: computer.getWeights.handler(({ input, signal }) => downloads.get(input.model).follow(signal)),
    pauseWeights: computer.pauseWeights.handler(({ input }) => downloads.pause(input.model)),
    weightsUnderWay: computer.weightsUnderWay.handler(() => ({ models: downloads.models })),
    importWeights: computer.importWeights.handler(async function* ({ input, signal, context: { window } }) {
      await known.check(input.paths, window.paths);
      yield* downloads.import(input).follow(signal);
    }),
    verifyModel: computer.verifyModel.handler(async function* ({ input, signal, context: { window } }) {
      await known.check(namedPaths({ inputs: [], model: input.model }), window.paths);
      yield* downloads.verify(input.model).follow(signal);
    }),
    removeModel: computer.removeModel.handler(({ input }) => downloads.remove(input.model)),
    offlineChoices: computer.offlineChoices.handler(async () => ({
      gpus: await packableGpus(engine.paths),
      underWay: service.packing.underWay,
    })),
    packOffline: computer.packOffline.handler(async ({ input, signal, context: { window } }) => {
      await known.check([input.folder], window.paths);
      return service.packing.start(input).follow(signal);
    }),
    cancelPacking: computer.cancelPacking.handler(() => service.packing.stop()),
    lookAtOfflineFolder: computer.lookAtOfflineFolder.handler(async ({ input, context: { window } }) => {
      await known.check([input.folder], window.paths);
      return lookAtFolder(input.folder, engine.paths);
    }),
    setUpFromFolder: computer.setUpFromFolder.handler(async ({ input, signal, context: { window } }) => {
      await known.check([input.folder], window.paths);
      const job = await pythonEnvironment.setUpFrom(input.folder);
      return job.follow(signal);
    }),
    diagnostics: computer.diagnostics.handler(async ({ context: { window } }) => {
      const environment = await pythonEnvironment.environment();
      const probe = environment.ok ? await probeDevices(environment.value) : null;
      const latest = catalog.all().slice(0, RUNS_IN_DIAGNOSTICS);
      return {
        text: diagnosticsText({
          appVersion: engine.appVersion,
          shell: window.shell,
          dataDir: engine.paths.dataDir,
          environment: environment.ok ? environment.value : null,
          probe: probe?.ok ? probe.value : null,
          checks: await wholeCheck(engine, pythonEnvironment),
          shellLog: await latestShellLog(engine.paths),
          runs: await Promise.all(
            latest.map(async (summary) => ({ summary, ...(await troublesOf(summary.folder)) })),
          ),
        }),
      };
    }),
    settings: computer.settings.handler(() => settings.current),
    changeSettings: computer.changeSettings.handler(async ({ input, context: { window } }) => {
      const change: { [Name in keyof Settings]?: Settings[Name] | undefined } = input;
      const { outputFolder, dataFolder, certificateFile, interpreter } = change;
      const named = [outputFolder, dataFolder, certificateFile, interpreter].filter((path) => !!path);
      await known.check(
        named.filter((path) => typeof path === 'string'),
        window.paths,
      );
      await checkSetUp(change, pythonEnvironment);
      const changed = await settings.change(change);
      const decides = ['interpreter', 'proxy', 'certificateFile', 'packageIndex'] as const;
      if (decides.some((name) => name in change)) pythonEnvironment.settingsChanged();
      return changed;
    }),
    browse: computer.browse.handler(({ input, context: { window } }) =>
      browseFolder(input.folder ?? startFolder(window.paths.root), window.paths),
    ),
  };

  /** The home folder if it may be shown: with a root such as / nobody wants to begin at the very top. */
  function startFolder(root: string | null): string {
    return root === null || isInside(root, homedir()) ? homedir() : root;
  }

  async function troublesOf(folder: string) {
    return open
      .read(folder, async (store) => ({
        troubles: await store.remarks(TROUBLES_IN_DIAGNOSTICS),
        leftOut: (await store.loadRun()).leftOut.map(({ path }) => path),
      }))
      .catch(() => ({ troubles: [], leftOut: [] }));
  }
}
