import { join } from 'node:path';
import { unwrap, usage } from '../../../contract/errors.ts';
import type { Calibration } from '../../../contract/rpc/computer.ts';
import { wilson } from '../../../contract/samples.ts';
import { runRequestSchema } from '../../../contract/rpc/runs.ts';
import {
  createRun,
  type EngineContext,
  formatCount,
  lastCalibration,
  OpenRun,
  resolveModel,
} from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { toStandardOutput } from '../../output/terminal.ts';
import { parsed, reporterOf, type CommonFlags } from '../../commonFlags.ts';
import { followRun } from './followRun.ts';

export interface CalibrateFlags extends CommonFlags {
  viral?: string;
  other?: string;
  model: string;
  devices: string;
  outputDir?: string;
}

/**
 * Runs a model on two files whose answer is known and stores the scores as its calibration; without files,
 * prints the stored one.
 */
export async function calibrate(context: EngineContext, flags: CalibrateFlags): Promise<number> {
  const { viral, other, model, devices } = flags;
  const { planModel } = unwrap(await resolveModel(model, context.paths));
  if ((viral === undefined) !== (other === undefined))
    throw usage('Only one of the two files is named.', 'Name both: "--viral FILE --other FILE".');
  if (viral !== undefined && other !== undefined) {
    const outputDir = flags.outputDir ?? join(context.paths.dataDir, 'calibration');
    const request = parsed(runRequestSchema, {
      ...{ inputs: [viral, other], outputDir, model, devices },
      ...{ name: 'Calibration', calibrates: true, strict: true },
      // The program's own folder may hold an earlier calibration to replace; a folder that the user named may
      // hold anything.
      force: flags.outputDir === undefined,
    });
    const created = unwrap(await createRun(context, { request, defaultParent: process.cwd() }));
    const run = unwrap(await OpenRun.open(context, created.folder));
    const exitCode = await followRun(context, run, await reporterOf(flags), { created });
    if (exitCode !== EXIT.done) return exitCode;
  }
  const found = await lastCalibration(context.paths, planModel.hash);
  if (found === null)
    throw usage(`${planModel.title} has no calibration.`, 'Make one: "--viral FILE --other FILE".');
  toStandardOutput(flags.json ? JSON.stringify(found) : calibrationLines(planModel.title, found).join('\n'));
  return EXIT.done;
}

function calibrationLines(title: string, calibration: Calibration): string[] {
  const { calibratedAt, precision, viralFile, otherFile, classes } = calibration;
  const percent = (part: number, whole: number) => {
    if (whole === 0) return '-';
    const { low, high } = wilson(part / whole, whole);
    const [share, from, to] = [part / whole, low, high].map((one) => (100 * one).toFixed(1));
    return `${share} % (${from}-${to})`;
  };
  const filled = classes.filter(({ viral, other }) => viral.sequences + other.sequences > 0);
  return [
    `${title}, ${precision.toUpperCase()}, ${calibratedAt.slice(0, 10)}: what it makes of your own sequences in ${viralFile} (viruses) and ${otherFile} (others).`,
    'Found are of all viruses, and falsely called of all others, those that score at least as high; precision is right only for a sample with as many viruses as these two files together. In brackets: 95 % intervals (Wilson), which are too narrow where several sequences come from one genome.',
    ...filled.flatMap(({ from, viral, other, thresholds }) => [
      '',
      `From ${formatCount(from)} bp: ${formatCount(viral.sequences)} viruses (${formatCount(viral.scored)} with a score), ${formatCount(other.sequences)} others (${formatCount(other.scored)})`,
      `${'score'.padEnd(8)}${'found'.padStart(20)}${'falsely called'.padStart(21)}${'precision'.padStart(21)}`,
      ...thresholds.map(({ threshold, viralAbove, otherAbove }) =>
        [
          `>= ${threshold}`.padEnd(7),
          percent(viralAbove, viral.sequences).padStart(20),
          percent(otherAbove, other.sequences).padStart(20),
          percent(viralAbove, viralAbove + otherAbove).padStart(20),
        ].join(' '),
      ),
    ]),
  ];
}
