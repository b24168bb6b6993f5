import { z } from 'zod';
import type { Controls, PrecisionCheck } from '../../../contract/rpc/computer.ts';
import { precisionSchema } from '../../../contract/protocol/index.ts';
import { unwrap } from '../../../contract/errors.ts';
import {
  checkDevicesOnce,
  checkPrecisions,
  choosePrecision,
  describeVerdicts,
  formatCount,
  measureSpeed,
  probeDevices,
  resolveModel,
  runControls,
  selectDevices,
  VERDICTS,
  type EngineContext,
  withLastTest,
} from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { parsed } from '../../commonFlags.ts';
import { toStandardError, toStandardOutput } from '../../output/terminal.ts';

export interface CheckFlags {
  model: string;
  seconds: number;
  devices: string;
  quick?: boolean;
  precision: string;
  json?: boolean;
}

/** Checks whether this installation computes correctly, and prints the findings; with --json as JSON. */
export async function check(
  context: EngineContext,
  what: string,
  inputs: readonly string[],
  flags: CheckFlags,
): Promise<number> {
  const { good, findings, lines } = await CHECKS[parsed(checkNameSchema, what)](context, inputs, flags);
  toStandardOutput(flags.json === true ? JSON.stringify(findings) : lines.join('\n'));
  return good ? EXIT.done : EXIT.failed;
}

/** The names of earlier versions mean the same for one more release. */
const FORMER: Readonly<Record<string, string>> = { device: 'devices', model: 'controls' };
const checkNameSchema = z.preprocess(
  (name) => FORMER[String(name)] ?? name,
  z.enum(['devices', 'controls', 'precision', 'speed']),
);

interface Findings {
  good: boolean;
  /** The findings for --json. */
  findings: unknown;
  lines: string[];
}
type Check = (context: EngineContext, inputs: readonly string[], flags: CheckFlags) => Promise<Findings>;

const CHECKS: Record<z.infer<typeof checkNameSchema>, Check> = {
  devices: async ({ environment, paths }) => {
    const probe = unwrap(await probeDevices(environment));
    const devices = await checkDevicesOnce(paths, environment, probe);
    const { wrong, sentence } = describeVerdicts(devices);
    return { good: !wrong, findings: devices, lines: [sentence] };
  },
  controls: async (context, _, flags) => {
    const { environment, paths } = context;
    const { planModel, driver, chosen } = await devicesFor(context, flags);
    const onDevice = (name: string) => {
      toStandardError(`${name} computes known sequences with ${planModel.title} ...`);
    };
    // Each device's own precision unless one is requested; then what a run with --precision would compute in.
    const asked = parsed(z.union([precisionSchema, z.literal('auto')]), flags.precision);
    const precision = asked === 'auto' ? undefined : unwrap(choosePrecision(asked, chosen));
    const found = unwrap(
      await runControls(environment, paths, chosen, planModel, {
        ...{ quick: flags.quick === true, onDevice, driver, precision },
      }),
    );
    const good = found.every(({ verdict }) => verdict === 'works');
    return { good, findings: found, lines: [...found.flatMap(describeControls), PANEL_CANNOT_SAY] };
  },
  precision: async (context, inputs, flags) => {
    const { planModel, chosen } = await devicesFor(context, flags);
    const onDevice = (name: string) => {
      toStandardError(`${name} computes in every precision with ${planModel.title} ...`);
    };
    const { environment, paths } = context;
    const found = unwrap(await checkPrecisions(environment, paths, chosen, planModel, { inputs, onDevice }));
    const good = Object.values(found.precisions).every(({ verdict }) => verdict.offered);
    return { good, findings: found, lines: describePrecisions(found) };
  },
  speed: async ({ environment, paths }, _, { seconds }) => {
    const probe = unwrap(await probeDevices(environment));
    const onDevice = (name: string) => {
      toStandardError(`${name} is measured for about ${seconds} s ...`);
    };
    const measured = await measureSpeed(environment, paths, probe, seconds, { onDevice });
    const lines = measured.flatMap(({ name, report, problem }) => [
      `${name}${report ? `, ${report.precision.toUpperCase()}` : `: ${problem ?? ''}`}`,
      ...(report?.rows ?? []).map(
        (row) =>
          `  batches of ${formatCount(row.tokens_per_batch)} tokens: ` +
          `ESM-2 ${formatCount(Math.round(row.esm2_residues_per_second))} residues/s ` +
          `(its matrix products alone ${formatCount(Math.round(row.products_residues_per_second))}), ` +
          `DNABERT-S ${formatCount(Math.round(row.dnabert_s_frames_per_second))} frames/s`,
      ),
    ]);
    return { good: measured.every(({ problem }) => problem === null), findings: measured, lines };
  },
};

async function devicesFor({ environment, paths }: EngineContext, flags: CheckFlags) {
  const model = unwrap(await resolveModel(flags.model, paths));
  const probe = await withLastTest(unwrap(await probeDevices(environment)), paths, environment);
  const chosen = unwrap(selectDevices(flags.devices, probe, model));
  return { planModel: model.planModel, driver: probe.driver_version, chosen };
}

const PANEL_CANNOT_SAY =
  'What this cannot say: published models may have been trained on these genomes, and hardly any virus of eukaryotes is among them.';

const GROUPS = {
  viral: 'viral',
  host: 'of hosts',
  crassphage: 'parts of crAssphage, a phage of the human gut',
  shuffled: 'shuffled, with the pairs of neighbouring bases of viral and host ones',
} as const satisfies Record<Controls['groups'][number]['group'], string>;

function describeControls({ deviceName, precision, verdict, reasons, original, groups }: Controls): string[] {
  return [
    `${deviceName}, ${precision.toUpperCase()}: the model ${VERDICTS[verdict]}. ${reasons.join(' ')}`,
    ...(original && original.problem === null
      ? [
          `  the original tool's answers: norms within ${(100 * original.norm).toPrecision(2)} %` +
            (original.score === null ? '' : `, scores within ${original.score.toExponential(1)}`),
        ]
      : []),
    ...groups.map(
      ({ group, scored, called_virus: called }) => `  called virus, ${GROUPS[group]}: ${called} of ${scored}`,
    ),
  ];
}

function describePrecisions({
  deviceName,
  frames,
  precisions,
  not_possible: refused,
}: PrecisionCheck): string[] {
  return [
    `${deviceName}, ${formatCount(frames)} reading frames`,
    ...Object.entries(precisions).map(([precision, { scores, verdict }]) => {
      const share = (100 * scores.flip_share).toFixed(3);
      const judged = verdict.offered ? 'passes' : `does not pass: ${verdict.reason}`;
      return `  ${precision.toUpperCase()} ${judged}; ${formatCount(scores.flips)} labels differ (${share} %)`;
    }),
    ...Object.entries(refused).map(
      ([precision, why]) => `  ${precision.toUpperCase()} is not possible: ${why}`,
    ),
  ];
}
