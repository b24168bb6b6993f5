import { resolve } from 'node:path';
import { appError, unwrap, usage } from '../../../contract/errors.ts';
import {
  type EngineContext,
  formatCount,
  isRunFolder,
  keepShareStatus,
  listShares,
  mergeRuns,
  missingShares,
  OpenRun,
  openShare,
  parseShare,
  shareNames,
} from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { reporterOf, type CommonFlags } from '../../commonFlags.ts';
import { completeFinished } from './existingRun.ts';
import { followRun, quoted } from './followRun.ts';
import { predict, type PredictFlags } from './predict.ts';

/** Reads the inputs and makes the parts, which any number of computers can then compute. */
export async function prepare(
  context: EngineContext,
  inputs: string[],
  flags: PredictFlags,
): Promise<number> {
  const exitCode = await predict(context, inputs, { ...flags, preparesOnly: true });
  const reporter = await reporterOf(flags);
  if (exitCode === EXIT.done) {
    const folder = flags.outputDir === undefined ? 'FOLDER' : quoted(flags.outputDir);
    reporter.line(
      `Compute it with: virnucpro compute ${folder} --share 1/8 (then 2/8, and so on, on any computer)`,
    );
    reporter.line(`Then write the results with: virnucpro finish ${folder}`);
  }
  return exitCode;
}

/** Computes one share of a prepared run with the devices of this computer. */
export async function compute(
  context: EngineContext,
  folder: string,
  flags: CommonFlags & { share: string; devices?: string },
): Promise<number> {
  const reporter = await reporterOf(flags);
  const share = parseShare(flags.share);
  if (!share) throw usage(`${flags.share} is no share.`, 'Such as "--share 3/8": the third of eight.');
  const session = unwrap(await openShare(context, resolve(folder), share));
  if (session === null) {
    reporter.line(`Share ${flags.share} has no parts.`);
    return EXIT.done;
  }
  if (session.record.state.phase === 'done' && (await session.record.store.pendingParts(1)).length === 0) {
    await session.close();
    reporter.line(`Share ${flags.share} has been computed already.`);
    return EXIT.done;
  }
  const closeStatus = keepShareStatus(session);
  const exitCode = await followRun(context, session, reporter, {
    devices: flags.devices,
    goOnWith: `virnucpro compute ${quoted(folder)} --share ${flags.share}`,
  }).finally(closeStatus);
  // What failed in the share is reported with the results of the run.
  if (exitCode !== EXIT.doneWithFailures && exitCode !== EXIT.done) return exitCode;
  reporter.line(`Share ${flags.share} is computed.`);
  return EXIT.done;
}

/** Collects what all shares have computed; writes the results, or reports what is missing. */
export async function finish(context: EngineContext, folder: string, flags: CommonFlags): Promise<number> {
  const reporter = await reporterOf(flags);
  const run = resolve(folder);
  const session = unwrap(await OpenRun.open(context, run));
  if (session.record.state.phase === 'done' && shareNames(run).length === 0) {
    const exitCode = await completeFinished(session, reporter);
    if (exitCode !== null) return exitCode;
  }
  const division = divisionOf(session);
  const exitCode = await followRun(context, session, reporter, {
    preparesOnly: true,
    goOnWith: `virnucpro finish ${quoted(folder)}`,
  });
  if (exitCode !== EXIT.done || session.record.state.phase === 'done' || !isRunFolder(run)) return exitCode;
  const { parts } = session.progress();
  const left = parts.total - parts.done - parts.failed;
  const missing = division === undefined ? [] : missingShares(run, division);
  const which = missing.length === 1 ? ' Missing: share ' : ' Missing: shares ';
  const cause = `${formatCount(left)} of ${formatCount(parts.total)} parts are not computed yet.`;
  reporter.error(
    appError('shares_missing', missing.length === 0 ? cause : `${cause}${which}${listShares(missing)}.`, {
      nextStep: 'Compute what is missing, then finish the run again.',
    }),
  );
  return EXIT.failed;
}

/** Into how many shares a run was divided last, by those that have begun, or were taken over earlier. */
function divisionOf({ folder, record }: OpenRun): number | undefined {
  const names = [...record.stored.devices.map(({ id }) => id), ...shareNames(folder)];
  const counts = names.flatMap((name) => /\d-of-(\d+)$/.exec(name)?.[1] ?? []);
  return counts.length === 0 ? undefined : Number(counts.at(-1));
}

/** Merges several finished runs into one and writes its results. */
export async function merge(
  context: EngineContext,
  folders: string[],
  flags: CommonFlags & { outputDir: string; force?: boolean },
): Promise<number> {
  const { outputDir, force = false } = flags;
  const session = await mergeRuns(context, folders, outputDir, force);
  return followRun(context, session, await reporterOf(flags), {
    preparesOnly: true,
    goOnWith: `virnucpro finish ${quoted(outputDir)}`,
  });
}
