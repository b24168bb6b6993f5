import { z } from 'zod';
import { sampleNames, NO_DETAILS, sampleDetailsSchema, type SampleDetails } from '../../contract/samples.ts';
import { noPredictions, predictionSchema } from '../../contract/results.ts';
import type { SampleSummary } from '../../contract/rpc/results.ts';
import type { InputResultSummary } from '../results/types.ts';
import { SAMPLE_DETAILS_OPTION, SAMPLES_OPTION, type StoredRun } from '../store/types.ts';

const namedSchema = z.array(z.string().min(1));

export function samplesOf({ description, inputs }: Pick<StoredRun, 'description' | 'inputs'>): string[] {
  const named = namedSchema.safeParse(description.options[SAMPLES_OPTION]).data;
  return named?.length === inputs.length ? named : sampleNames(inputs.map(({ path }) => path));
}

/** Details of each input's sample, from a sample sheet or named by hand; null if there are none. */
export function detailsOf({
  description,
  inputs,
}: Pick<StoredRun, 'description' | 'inputs'>): SampleDetails[] | null {
  const stored = z.array(sampleDetailsSchema).safeParse(description.options[SAMPLE_DETAILS_OPTION]).data;
  return stored?.length === inputs.length ? stored : null;
}

/**
 * The run's results for each sample, in the order of its groups, then of the files; controls of a group come
 * last. Samples whose files are empty are included with zeros.
 */
export function summariseSamples(
  samples: readonly string[],
  perInput: readonly InputResultSummary[],
  details: readonly SampleDetails[] | null = null,
): SampleSummary[] {
  const summaries = new Map<string, SampleSummary>();
  for (const [input, sample] of samples.entries()) {
    const summary = summaries.get(sample) ?? emptySample(sample, details?.[input]);
    summaries.set(sample, summary);
    summary.inputs.push(input);
    const found = perInput.find((one) => one.input === input);
    if (found) addCounts(summary, found);
  }
  const groups = [...new Set([...summaries.values()].map(({ group }) => group))];
  return [...summaries.values()].sort(
    (a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || Number(a.control) - Number(b.control),
  );
}

export const emptySample = (sample: string, details: SampleDetails = NO_DETAILS): SampleSummary => ({
  ...details,
  sample,
  inputs: [],
  sequences: 0,
  byPrediction: noPredictions(),
  bases: 0,
});

export function addCounts(
  sum: SampleSummary,
  { sequences, byPrediction, bases }: Pick<SampleSummary, 'sequences' | 'byPrediction' | 'bases'>,
): void {
  sum.sequences += sequences;
  sum.bases += bases;
  for (const prediction of predictionSchema.options) sum.byPrediction[prediction] += byPrediction[prediction];
}
