import { z } from 'zod';
import { sampleNames, NO_DETAILS, sampleDetailsSchema, type SampleDetails } from '../../contract/samples.ts';
import { predictionSchema, type Prediction } from '../../contract/results.ts';
import type { InputResultSummary } from '../results/types.ts';
import { SAMPLE_DETAILS_OPTION, SAMPLES_OPTION, type StoredRun } from '../store/types.ts';

const namedSchema = z.array(z.string().min(1));

/** The sample of each input. */
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

export interface SampleSummary extends SampleDetails {
  sample: string;
  /** Numbers of the sample's files. */
  inputs: number[];
  sequences: number;
  byPrediction: Record<Prediction, number>;
  bases: number;
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
    let summary = summaries.get(sample);
    if (!summary) {
      const byPrediction = Object.fromEntries(
        predictionSchema.options.map((prediction) => [prediction, 0]),
      ) as Record<Prediction, number>;
      summary = {
        ...(details?.[input] ?? NO_DETAILS),
        sample,
        inputs: [],
        sequences: 0,
        byPrediction,
        bases: 0,
      };
      summaries.set(sample, summary);
    }
    summary.inputs.push(input);
    const found = perInput.find((one) => one.input === input);
    if (!found) continue;
    summary.sequences += found.sequences;
    summary.bases += found.bases;
    for (const prediction of predictionSchema.options)
      summary.byPrediction[prediction] += found.byPrediction[prediction];
  }
  const groups = [...new Set([...summaries.values()].map(({ group }) => group))];
  return [...summaries.values()].sort(
    (a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || Number(a.control) - Number(b.control),
  );
}

/** The share of viruses among the sequences with a call; null if none has one. */
export function viralShare({
  byPrediction: { virus, others },
}: Pick<SampleSummary, 'byPrediction'>): number | null {
  return virus + others === 0 ? null : virus / (virus + others);
}
