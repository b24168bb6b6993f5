import { z } from 'zod';
import { sampleNames } from '../../contract/samples.ts';
import { predictionSchema, type Prediction } from '../../contract/results.ts';
import type { InputResultSummary } from '../results/types.ts';
import { SAMPLES_OPTION, type StoredRun } from '../store/types.ts';

const namedSchema = z.array(z.string().min(1));

/** The sample of each input. */
export function samplesOf({ description, inputs }: Pick<StoredRun, 'description' | 'inputs'>): string[] {
  const named = namedSchema.safeParse(description.options[SAMPLES_OPTION]).data;
  return named?.length === inputs.length ? named : sampleNames(inputs.map(({ path }) => path));
}

export interface SampleSummary {
  sample: string;
  /** Numbers of its files. */
  inputs: number[];
  sequences: number;
  byPrediction: Record<Prediction, number>;
  bases: number;
}

/** What the run found in each sample, in the order of the files. Samples whose files hold nothing are there with zeros. */
export function summariseSamples(
  samples: readonly string[],
  perInput: readonly InputResultSummary[],
): SampleSummary[] {
  const summaries = new Map<string, SampleSummary>();
  for (const [input, sample] of samples.entries()) {
    let summary = summaries.get(sample);
    if (!summary) {
      const byPrediction = Object.fromEntries(
        predictionSchema.options.map((prediction) => [prediction, 0]),
      ) as Record<Prediction, number>;
      summary = { sample, inputs: [], sequences: 0, byPrediction, bases: 0 };
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
  return [...summaries.values()];
}

/** Of the sequences that have a call, how many are called virus; null where none has. */
export function viralShare({
  byPrediction: { virus, others },
}: Pick<SampleSummary, 'byPrediction'>): number | null {
  return virus + others === 0 ? null : virus / (virus + others);
}
