import { wordFor } from '../../contract/columns.ts';
import { CONSERVATIVE } from '../../contract/evidence.ts';
import type { ExportLanguage } from '../../contract/exports.ts';
import { sampleNames, NO_DETAILS, type SampleDetails } from '../../contract/samples.ts';
import { noPredictions, predictionSchema, viralShare, type Prediction } from '../../contract/results.ts';
import type { Found, SamplesFound, SampleSummary } from '../../contract/rpc/results.ts';
import type { ExpectedShares } from '../../contract/rpc/runs.ts';
import { sharesOf } from '../results/estimates/viralShare.ts';
import type { InputResultSummary } from '../results/types.ts';
import type { RunStore } from '../store/runStore.ts';
import type { StoredRun } from '../store/types.ts';

export function samplesOf({ description, inputs }: Pick<StoredRun, 'description' | 'inputs'>): string[] {
  const named = description.options.samples;
  return named?.length === inputs.length ? named : sampleNames(inputs.map(({ path }) => path));
}

/** Details of each input's sample, from a sample sheet or named by hand; null if there are none. */
export function detailsOf({
  description,
  inputs,
}: Pick<StoredRun, 'description' | 'inputs'>): SampleDetails[] | null {
  const stored = description.options.sampleDetails;
  return stored?.length === inputs.length ? stored : null;
}

/** What a run has found, by sample and in all; while it is not done, what is known by now. */
export async function samplesFound(
  store: Pick<RunStore, 'inputSummaries' | 'countPredictions'>,
  run: Pick<StoredRun, 'description' | 'inputs'>,
): Promise<SamplesFound> {
  const [perInput, strong] = await Promise.all([
    store.inputSummaries(),
    store.countPredictions({ filter: CONSERVATIVE }),
  ]);
  const names = samplesOf(run);
  const items = summariseSamples(names, perInput, detailsOf(run));
  const controls = items.filter(({ control }) => control);
  return {
    names,
    items,
    all: sumOf(perInput),
    outsideControls: sumOf(items.filter(({ control }) => !control)),
    inControls: controls.length === 0 ? null : { samples: controls.length, ...sumOf(controls) },
    strong: strong.total,
  };
}

/**
 * The viral shares that a run will show when it is done, as far as is known; null once it is done, since its
 * results have them.
 */
export async function expectedShares(
  store: Pick<RunStore, 'loadRun' | 'shareStrata'>,
): Promise<ExpectedShares | null> {
  const run = await store.loadRun();
  return run.state.phase === 'done' ? null : sharesOf(await store.shareStrata(), samplesOf(run));
}

/** In the order of the groups, then of the files; controls of a group come last. Samples whose files are empty have zeros. */
export function summariseSamples(
  samples: readonly string[],
  perInput: readonly InputResultSummary[],
  details: readonly SampleDetails[] | null,
): SampleSummary[] {
  const byInput = new Map(perInput.map((one) => [one.input, one]));
  const bySample = Map.groupBy(samples.keys(), (input) => samples[input]!);
  const summaries = [...bySample].map(([sample, inputs]) => ({
    ...NO_DETAILS,
    ...details?.[inputs[0]!],
    sample,
    inputs,
    ...sumOf(inputs.flatMap((input) => byInput.get(input) ?? [])),
  }));
  const groups = [...new Set(summaries.map(({ group }) => group))];
  return summaries.sort(
    (a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || Number(a.control) - Number(b.control),
  );
}

function sumOf(some: readonly Found[]): Found {
  const sum: Found = { sequences: 0, byPrediction: noPredictions(), bases: 0 };
  for (const { sequences, byPrediction, bases } of some) {
    sum.sequences += sequences;
    sum.bases += bases;
    for (const call of predictionSchema.options) sum.byPrediction[call] += byPrediction[call];
  }
  return sum;
}

interface SampleColumn {
  readonly en: string;
  readonly de: string;
  readonly kind: 'text' | 'integer' | 'share';
  /** Empty or null if it has none. */
  readonly valueOf: (summary: SampleSummary, language: ExportLanguage) => string | number | null;
}

const callColumn = (call: Prediction): SampleColumn => ({
  en: wordFor('prediction', call, 'en'),
  de: wordFor('prediction', call, 'de'),
  kind: 'integer',
  valueOf: ({ byPrediction }) => byPrediction[call],
});

/** What tables for people say of each sample, in this order. */
export const SAMPLE_COLUMNS = {
  sample: { en: 'Sample', de: 'Probe', kind: 'text', valueOf: ({ sample }) => sample },
  group: { en: 'Group', de: 'Gruppe', kind: 'text', valueOf: ({ group }) => group },
  control: {
    ...{ en: 'Control', de: 'Kontrolle', kind: 'text' },
    valueOf: ({ control }, language) => (control ? { en: 'yes', de: 'ja' }[language] : ''),
  },
  sequences: { en: 'Sequences', de: 'Sequenzen', kind: 'integer', valueOf: ({ sequences }) => sequences },
  bases: { en: 'Bases', de: 'Basen', kind: 'integer', valueOf: ({ bases }) => bases },
  virus: callColumn('virus'),
  others: callColumn('others'),
  not_scored: callColumn('not_scored'),
  failed: callColumn('failed'),
  share: {
    ...{ en: 'Viral share', de: 'Viraler Anteil', kind: 'share' },
    valueOf: ({ byPrediction }) => viralShare(byPrediction),
  },
} as const satisfies Record<string, SampleColumn>;
