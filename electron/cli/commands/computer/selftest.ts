import { z } from 'zod';
import type { Answers, Controls } from '../../../contract/rpc/computer.ts';
import { precisionSchema } from '../../../contract/protocol/index.ts';
import { unwrap } from '../../../contract/errors.ts';
import {
  checkAnswers,
  checkDevicesOnce,
  choosePrecision,
  describeVerdicts,
  formatCount,
  measurePrecisions,
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

export interface SelfTestFlags {
  model: string;
  seconds: number;
  devices?: string;
  quick?: boolean;
  precision?: string;
  json?: boolean;
}

/**
 * Checks whether this installation computes correctly. Each level prints its findings, with --json as JSON.
 */
export async function selftest(
  context: EngineContext,
  level: string,
  inputs: readonly string[],
  flags: SelfTestFlags,
): Promise<number> {
  const { good, findings, lines } = await LEVELS[parsed(levelSchema, level)](context, inputs, flags);
  const text = flags.json === true ? JSON.stringify(findings) : lines.join('\n');
  if (text !== '') toStandardOutput(text);
  return good ? EXIT.done : EXIT.failed;
}

const levelSchema = z.enum(['device', 'model', 'controls', 'precision', 'speed']);

interface Findings {
  good: boolean;
  /** The findings for --json. */
  findings: unknown;
  lines: string[];
}
type Level = (context: EngineContext, inputs: readonly string[], flags: SelfTestFlags) => Promise<Findings>;

const LEVELS: Record<z.infer<typeof levelSchema>, Level> = {
  device: async ({ environment, paths }) => {
    const probe = unwrap(await probeDevices(environment));
    const devices = await checkDevicesOnce(paths, environment, probe);
    const { wrong, sentence } = describeVerdicts(devices);
    return { good: !wrong, findings: devices, lines: [sentence] };
  },
  model: async ({ environment, paths }, _, { model: choice }) => {
    const { planModel } = unwrap(await resolveModel(choice, paths));
    const probe = unwrap(await probeDevices(environment));
    const onDevice = (name: string) => {
      toStandardError(`${name} computes known reading frames with ${planModel.title} ...`);
    };
    const answers = unwrap(await checkAnswers(environment, paths, probe, planModel, { onDevice }));
    const wrong = answers.devices.some(({ precisions }) =>
      precisions.some(({ problem }) => problem !== null),
    );
    return { good: !wrong, findings: answers, lines: describeAnswers(answers) };
  },
  controls: async (
    { environment, paths },
    _,
    { model: choice, devices = 'auto', quick = false, precision = 'auto' },
  ) => {
    const model = unwrap(await resolveModel(choice, paths));
    const { planModel } = model;
    const probe = await withLastTest(unwrap(await probeDevices(environment)), paths, environment);
    const onDevice = (name: string) => {
      toStandardError(`${name} computes known sequences with ${planModel.title} ...`);
    };
    const chosen = unwrap(selectDevices(devices, probe, model));
    // Each device's own precision unless one is requested; then what a run with --precision would compute in.
    const asked =
      precision === 'auto' ? undefined : unwrap(choosePrecision(parsed(precisionSchema, precision), chosen));
    const found = unwrap(
      await runControls(environment, paths, chosen, planModel, {
        ...{ quick, onDevice, driver: probe.driver_version, precision: asked },
      }),
    );
    const good = found.every(({ verdict }) => verdict === 'works');
    return { good, findings: found, lines: [...found.flatMap(describeControls), PANEL_CANNOT_SAY] };
  },
  precision: async ({ environment, paths }, inputs, { model: choice, json = false }) => {
    const { planModel } = unwrap(await resolveModel(choice, paths));
    const report = await measurePrecisions(environment, paths, planModel, inputs, { quiet: json });
    return { good: report !== null, findings: report, lines: [] };
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

const AGREEMENT = {
  original_tool: 'gives the answers of the original tool',
  stored:
    'gives the stored answers of the teaching model: it computes correctly, which says nothing about how well it tells viruses apart',
  processor: 'agrees with the processor; no known answers exist for this model',
} as const satisfies Record<Answers['against'], string>;

const PANEL_CANNOT_SAY =
  'What this cannot say: published models may have been trained on these genomes, and hardly any virus of eukaryotes is among them.';

const GROUPS = {
  viral: 'viral',
  host: 'of hosts',
  crassphage: 'parts of crAssphage, a phage of the human gut',
  shuffled: 'shuffled, with the pairs of neighbouring bases of viral and host ones',
} as const satisfies Record<Controls['groups'][number]['group'], string>;

function describeControls({ deviceName, precision, verdict, reasons, groups }: Controls): string[] {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  return [
    `${deviceName}, ${precision.toUpperCase()}: the model ${VERDICTS[verdict]}. ${reasons.join(' ')}`,
    ...groups.map(({ group, scored, called_virus: called, share_called_virus: share }) => {
      const interval =
        share && ` = ${percent(share.value)} (${percent(share.low)} to ${percent(share.high)})`;
      return `  called virus, ${GROUPS[group]}: ${called} of ${scored}${interval ?? ''}`;
    }),
  ];
}

function describeAnswers({ against, source, devices }: Answers): string[] {
  const lines = devices.flatMap(({ name, precisions }) =>
    precisions.map(({ precision, problem, scoreDifference, normDifference }) => {
      const where = `${name}, ${precision.toUpperCase()}`;
      if (problem !== null) return `${where}: wrong or missing answers. ${problem}`;
      const differences = [
        ...(scoreDifference === null ? [] : [`scores within ${scoreDifference.toExponential(1)}`]),
        ...(normDifference === null ? [] : [`norms within ${(100 * normDifference).toPrecision(2)} %`]),
      ];
      return `${where}: ${AGREEMENT[against]} (${differences.join(', ')}).`;
    }),
  );
  return [...lines, `Compared with: ${source}.`];
}
