/**
 * The only public entry of the engine: everything that the desktop app, the server and the command line use.
 */
import './system/fileThreads.ts';
export { engineBase, type EngineContext } from './run/engineContext.ts';
export { WarmWorkers } from './workers/warmWorkers.ts';

// All runs, for windows
export { openService, type Service } from './service/service.ts';
export { serviceRouter, type ServiceRouter } from './service/router/index.ts';
export { LiveTopic } from './service/changes.ts';
export { listRun } from './service/runs/runSummary.ts';
export { ShellLog, shellLogFile } from './service/computer/diagnostics.ts';
export { pageFile, pageHeaders } from './service/window/pageFiles.ts';
export { uploadsFolder } from './service/window/knownPaths.ts';
export { isBelowOne, isInside, realPath } from './service/window/knownPaths.ts';
export type {
  DesktopActions,
  DownloadOffers,
  PathPolicy,
  WindowContext,
} from './service/window/windowContext.ts';

// Other computers by SSH
export { tunnelHeaders, type RunningServer as ServerThere, type Tunnel } from './service/computers/tunnel.ts';

// One run
export { createRun, defaultFolderName, type CreatedRun } from './run/begin/createRun.ts';
export { exampleRequest, exampleInput } from './run/exampleRun.ts';
export type { DeviceReport } from './run/finish/runJson.ts';
export { readRunReport } from './run/finish/runJson.ts';
export type { StartOptions } from './run/begin/checkReadiness.ts';
export { OpenRun, workOnRun } from './run/openRun.ts';
export { keepShareStatus, sharesBegun, type SharesBegun } from './run/shares/shareStatus.ts';
export { openShare } from './run/shares/openShare.ts';
export { mergeRuns } from './run/shares/mergeRuns.ts';
export { ownCommand } from './run/shares/clusterPlan.ts';
export { shareNames } from './run/shares/mergeShares.ts';
export { listShares, missingShares, nodeOf, parseShare } from './store/shares.ts';
export { IMBALANCE, describeUnusualNorms, UNUSUAL_NORMS } from './run/progress/remarks.ts';
export type { RunNote } from './run/runNotes.ts';
export { describeImported, refusedFiles } from './run/begin/createRun.ts';
export { describePhase, storedRequest } from './run/runRecord.ts';
export { isRunSound, verifyRun } from './run/verifyRun.ts';
export { isRunFolder } from './store/runFolder.ts';
export { runLockHolder } from './store/runFolder.ts';
export { openRunStore } from './store/runStore.ts';
export type { RunStore } from './store/runStore.ts';
export { markedRows } from './store/shortlist.ts';
export { threadsLeft } from './store/storeThread.ts';
export type { StoredRun } from './store/types.ts';

// Results for other programs
export { compareWithOriginal, writeOriginalComparison } from './exports/compare/compareOriginal.ts';
export { isOriginalResult } from './exports/compare/originalResults.ts';
export {
  agreementPath,
  compareRuns,
  writeComparison,
  type ComparedSequence,
} from './exports/compare/compareRuns.ts';
export { exportResults } from './exports/exportResults.ts';
export { EXPORT_FORMATS, formatNamed } from './exports/exportResults.ts';
export { temporaryFolder, type ModuleProcess } from './store/duckdb/queryProcess.ts';
export { answerAsTsv, queryRun } from './exports/exportResults.ts';
export {
  joinOtherTable,
  otherText,
  selectionOf,
  summariseOtherTable,
} from './exports/otherTools/joinOtherTable.ts';
export { joinedTables, readOtherTable } from './exports/otherTools/readOtherTable.ts';
export { storedOtherTables } from './exports/otherTools/joinOtherTable.ts';
export { expectedShares, samplesFound, samplesOf } from './exports/samples.ts';
export { storedFacts } from './service/runs/storedFacts.ts';

// This process and this computer
export { endByForce, endByForceAfter, endBySignal } from './system/liveProcess.ts';
export { diagnosticsText } from './service/computer/diagnostics.ts';
export { findDiskShortage } from './run/begin/checkReadiness.ts';
export { computerChecks, freeBytes } from './devices/computerChecks.ts';
export { safeName } from './system/pathLength.ts';
export { blockedGpu } from './devices/chosenDevice.ts';
export { selectDevices } from './devices/selectDevices.ts';
export { choosePrecision } from './devices/choosePrecision.ts';
export { probeDevices } from './devices/probeDevices.ts';
export { checkDevicesOnce, describeTrials } from './devices/check/trial.ts';
export { checkThisComputer } from './service/computer/checks.ts';
export { lastCalibration } from './run/goal.ts';
export { processStart } from './system/liveProcess.ts';
export { resolveAppPaths, type AppPaths } from './environment/appPaths.ts';
export { pythonLaunch } from './environment/pythonLaunch.ts';
export { networkVariables, readSetupSettings } from './environment/appPaths.ts';
export { stepLines } from './environment/steps.ts';
export { packableGpus } from './environment/install/setUpPlan.ts';
export { packOffline } from './setup/packOffline.ts';
export { setUp } from './setup/setUp.ts';

// Inputs and models
export { hashFile } from './system/hashFile.ts';
export { replaceFile } from './system/replaceFile.ts';
export { collectInputs } from './inputs/collectInputs.ts';
export { readSampleSheet } from './inputs/readSampleSheet.ts';
export { inspectInputs } from './inputs/collectInputs.ts';
export { resolveModel } from './models/resolveModel.ts';
export { listModels, looksHere } from './models/listModels.ts';
export { removeModel } from './models/listModels.ts';
export { secondsMeasured } from './service/questions/estimateRun.ts';
export { getModel, importModels, verifyModel } from './models/weights.ts';

// Formatting of numbers and device names
export {
  formatBytes,
  formatCount,
  formatDuration,
  formatDurationRange,
  formatMeasures,
  formatPercent,
  formatRate,
  TERMINAL_FIGURES,
} from '../contract/terminal/format.ts';
