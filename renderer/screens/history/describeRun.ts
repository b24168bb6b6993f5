import { fileName } from '../../i18n/format.ts';
import type { RunSummary } from '../../../electron/contract/index.ts';
import type { Texts } from '../../i18n/index.ts';

/** The inputs in a few words: the name of one, the number and size of several, and of samples where files share one. */
export function describeInputs(run: RunSummary, { t, format }: Pick<Texts, 't' | 'format'>): string {
  const { inputs } = run.plan;
  const [only] = inputs;
  const size = format.fileSize(inputs.reduce((sum, input) => sum + input.sizeBytes, 0));
  if (inputs.length === 1 && only) return t('history.oneInput', { name: fileName(only.path), size });
  const samples = new Set(run.samples).size;
  return samples > 0 && samples < inputs.length
    ? t('history.samples', { samples, count: inputs.length, size })
    : t('history.inputs', { count: inputs.length, size });
}
