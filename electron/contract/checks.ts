import { z } from 'zod';
import type { ExportLanguage } from './exports.ts';
import { pathSchema } from './limits.ts';
import { message, wordingSchema } from './messages.ts';
import { sha256Schema } from './protocol/common.ts';
import { countSchema, precisionSchema } from './protocol/index.ts';

const checkNameSchema = z.enum(['devices', 'controls', 'precision', 'speed']);
export type CheckName = z.infer<typeof checkNameSchema>;

/** `differs`: from right results by more than rounding explains. `weak`: a model that can't tell viruses. */
export const checkVerdictSchema = z.enum(['works', 'differs', 'weak', 'no_answer']);
export const VERDICTS: Record<z.infer<typeof checkVerdictSchema>, Record<'en' | 'de', string>> = {
  works: { en: 'Works', de: 'Funktioniert' },
  differs: { en: 'Do not use it: wrong results', de: 'Nicht verwenden: falsche Ergebnisse' },
  weak: { en: 'Do not use it', de: 'Nicht verwenden' },
  no_answer: { en: 'No result', de: 'Kein Ergebnis' },
};

/** What the Python side reports of a check in one precision. `figures` is null if nothing was measured. */
const reportedSchema = <Name extends CheckName, Figures extends z.ZodType>(check: Name, figures: Figures) =>
  z.object({
    check: z.literal(check),
    precision: precisionSchema,
    verdict: checkVerdictSchema,
    figures: figures.nullable(),
    /** Why nothing was measured. */
    problem: z.string().nullable(),
  });

const devicesSchema = reportedSchema(
  'devices',
  z.object({
    /** Relative, from the processor's results in FP32. */
    difference: z.number(),
    allowed: z.number(),
    /** Measured with the small encoder. */
    passes_per_second: z.number(),
  }),
);

const controlsSchema = reportedSchema(
  'controls',
  z.object({
    panel: z.object({ file: z.string(), sha256: sha256Schema, quick: z.boolean() }),
    groups: z.array(
      z.object({
        group: z.enum(['viral', 'host', 'crassphage', 'shuffled']),
        sequences: countSchema,
        scored: countSchema,
        called_virus: countSchema,
      }),
    ),
    /** In which share of the pairs the viral sequence scores higher than that of a host. */
    auroc: z.number().nullable(),
    /** From the scores known for this model, and from the original tool's norms and scores. */
    differences: z.partialRecord(
      z.enum(['known_score', 'norm', 'score']),
      z.object({ difference: z.number(), allowed: z.number() }),
    ),
  }),
);

const precisionCheckSchema = reportedSchema(
  'precision',
  z.object({
    frames: countSchema,
    difference_max: z.number(),
    /** Labels that differ from FP32. */
    flips: countSchema,
    flip_share: z.number(),
    failed: countSchema,
  }),
);

const speedSchema = reportedSchema(
  'speed',
  z.looseObject({
    rows: z.array(
      z.object({
        tokens_per_batch: z.int().positive(),
        esm2_residues_per_second: z.number().nonnegative(),
        dnabert_s_frames_per_second: z.number().nonnegative(),
        /** The rate that the device's matrix products alone would reach. */
        products_residues_per_second: z.number().nonnegative(),
      }),
    ),
  }),
);

export const reportSchema = z.discriminatedUnion('check', [
  devicesSchema,
  controlsSchema,
  precisionCheckSchema,
  speedSchema,
]);
export type CheckReport = z.infer<typeof reportSchema>;

/** The result of a check on one device in one precision. */
const resultSchema = z.object({
  /** Hash of the model; null for checks that need none. */
  model: sha256Schema.nullable(),
  device: z.object({ id: z.string(), kind: z.enum(['cuda', 'mps', 'cpu']), name: z.string() }),
  checkedAt: z.iso.datetime(),
  seconds: z.number().nonnegative(),
  /** Versions of the GPU's driver and of PyTorch, since others may compute different results. Null if unknown. */
  driver: z.string().nullable(),
  pytorch: z.string().nullable(),
  /** The verdict in words. */
  sentence: z.string(),
  wordings: z.array(wordingSchema),
});
export const checkResultSchema = z.intersection(resultSchema, reportSchema);
export type CheckResult = z.infer<typeof checkResultSchema>;
export type ResultOf<Name extends CheckName> = Extract<CheckResult, { check: Name }>;
export type FiguresOf<Name extends CheckName> = NonNullable<ResultOf<Name>['figures']>;

/** The results of one check among others. */
export const resultsOf = <Name extends CheckName, One extends CheckResult>(
  results: readonly One[],
  check: Name,
): (One & ResultOf<Name>)[] => results.filter((one): one is One & ResultOf<Name> => one.check === check);

const outdatedSchema = z.enum(['driver', 'pytorch', 'panel']);
/** What has changed since a check. */
export type Outdated = z.infer<typeof outdatedSchema>;
const lastResultSchema = z.intersection(checkResultSchema, z.object({ outdated: outdatedSchema.nullable() }));
export type LastResult = z.infer<typeof lastResultSchema>;

/** The last results of all checks, newest first, and the models that can be checked. */
export const checksSchema = z.object({
  results: z.array(lastResultSchema),
  models: z.array(
    z.object({
      /** An id as in `computer.models`. */
      model: z.string(),
      title: z.string(),
      hash: sha256Schema,
      /** Speed of the devices that a run uses by default; null if it was not measured. */
      chunksPerMinute: z.number().nullable(),
    }),
  ),
});
export type Checks = z.infer<typeof checksSchema>;
export type CheckedModel = Checks['models'][number];

/**
 * `devices` tries each device, `controls` computes known sequences on one device of every kind, `precision` some
 * sequences in every precision of one device; `speed` measures each device for about a minute.
 */
export const checkRequestSchema = z.object({ check: checkNameSchema, model: pathSchema.optional() });
export type CheckRequest = z.infer<typeof checkRequestSchema>;

const calledSchema = z.object({ called: countSchema, scored: countSchema });

/** What a run records, when it begins, about the last controls of its model. */
export const runControlsSchema = z.object({
  checkedAt: z.iso.datetime(),
  kind: resultSchema.shape.device.shape.kind,
  deviceName: z.string(),
  precision: precisionSchema,
  // Earlier versions told four kinds of weak models apart.
  verdict: checkVerdictSchema.catch('weak'),
  quick: z.boolean(),
  panelSha256: sha256Schema,
  viral: calledSchema,
  host: calledSchema,
});
export type RunControls = z.infer<typeof runControlsSchema>;

/** How many sequences of a group of the panel were called virus. */
export function calledOf(
  { groups }: FiguresOf<'controls'>,
  name: FiguresOf<'controls'>['groups'][number]['group'],
): RunControls['viral'] {
  const found = groups.find(({ group }) => group === name);
  return { called: found?.called_virus ?? 0, scored: found?.scored ?? 0 };
}

export const wordsOfCalled = ({ viral, host }: Pick<RunControls, 'viral' | 'host'>) =>
  message('check.controls.called', {
    ...{ viral: viral.called, virals: viral.scored },
    ...{ host: host.called, hosts: host.scored },
  });

/** The key among a device's facts: null if the run's model was never checked on a device of that kind. */
export const CONTROLS_FACT = 'controls';

type RunDevices = readonly { readonly facts: Readonly<Record<string, unknown>> }[];

/** What was known about each kind of device when the run began. Null if that was not stored. */
export function controlsOf(devices: RunDevices): RunControls[] | null {
  const noted = devices.flatMap(({ facts }) => (CONTROLS_FACT in facts ? [facts[CONTROLS_FACT]] : []));
  if (noted.length === 0) return null;
  const found = noted.flatMap((one) => runControlsSchema.safeParse(one).data ?? []);
  return [...new Map(found.map((one) => [`${one.kind} ${one.precision}`, one])).values()];
}

/** The controls in run.json's form. */
export function controlsFacts(devices: RunDevices) {
  const group = ({ called, scored }: RunControls['viral']) => ({ called_virus: called, scored });
  return (
    controlsOf(devices)?.map(({ checkedAt, kind, deviceName, panelSha256, viral, host, ...rest }) => ({
      checked_at: checkedAt,
      kind,
      device: deviceName,
      ...rest,
      panel_sha256: panelSha256,
      viral: group(viral),
      host: group(host),
    })) ?? null
  );
}

const NEVER = { en: 'never checked on these devices', de: 'auf diesen Geräten nie geprüft' };

/** A line for the terminal and the report; null for a run that did not store its controls. */
export function describeRunControls(devices: RunDevices, language: ExportLanguage): string | null {
  const found = controlsOf(devices)?.map((one) => {
    const where = `${one.deviceName}, ${one.precision.toUpperCase()}, ${one.checkedAt.slice(0, 10)}`;
    const { viral, host } = one;
    const called =
      language === 'en'
        ? wordsOfCalled(one).text
        : `${viral.called} von ${viral.scored} viralen und ${host.called} von ${host.scored} Wirtssequenzen werden als Virus eingestuft.`;
    return `${VERDICTS[one.verdict][language]} (${where}): ${called}`;
  });
  return found?.length === 0 ? NEVER[language] : (found?.join(' ') ?? null);
}
