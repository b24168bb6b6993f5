import { fileName } from '../../i18n/format.ts';
import type { RunSummary } from '../../../electron/contract/index.ts';
import type { Texts } from '../../i18n/index.ts';

/** The inputs in a few words: the name of one, the number and size of several. */
export function describeInputs(run: RunSummary, { t, format }: Pick<Texts, 't' | 'format'>): string {
  const { inputs } = run.plan;
  const [only] = inputs;
  const size = format.fileSize(inputs.reduce((sum, input) => sum + input.sizeBytes, 0));
  return inputs.length === 1 && only
    ? t('history.oneInput', { name: fileName(only.path), size })
    : t('history.inputs', { count: inputs.length, size });
}
