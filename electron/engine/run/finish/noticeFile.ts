import { closeSync, writeFileSync } from 'node:fs';
import { modelMark, type PlanModel } from '../../../contract/plan.ts';
import { NOTICE_FILE } from '../../../contract/results.ts';
import { openNew, pathInRun } from '../../files/runFiles.ts';

/**
 * Writes a notice beside the results of a model that is not for research. It comes first, so that the results
 * never exist without it.
 */
export function writeNoticeFile(folder: string, model: PlanModel): void {
  const mark = modelMark(model);
  if (mark === null) return;
  const descriptor = openNew(pathInRun(folder, NOTICE_FILE));
  try {
    writeFileSync(
      descriptor,
      [
        mark,
        '',
        `All files in this folder were made with "${model.title}".`,
        'Their scores and calls show how the program works; no conclusion may rest on them.',
        'prediction_results.txt and prediction_results_highestscore.csv have the format of the original tool,',
        'which has no place for this note. The other tables name the model in their column "model".',
        '',
      ].join('\n'),
    );
  } finally {
    closeSync(descriptor);
  }
}
