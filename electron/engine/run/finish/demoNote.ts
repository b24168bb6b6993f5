import { closeSync, writeFileSync } from 'node:fs';
import { demoMark, type PlanModel } from '../../../contract/plan.ts';
import { DEMO_NOTE_FILE } from '../../../contract/results.ts';
import { openNew, pathInRun } from '../../files/runFiles.ts';

/** Lays a note beside the results of a model that means nothing. Before them, so that they never lie there without it. */
export function writeDemoNote(folder: string, model: PlanModel): void {
  const mark = demoMark(model);
  if (mark === null) return;
  const descriptor = openNew(pathInRun(folder, DEMO_NOTE_FILE));
  try {
    writeFileSync(
      descriptor,
      [
        mark,
        '',
        `All files in this folder were made with "${model.title}", whose weights are random numbers.`,
        'The scores and calls in them mean nothing: they only show that the program works.',
        'prediction_results.txt and prediction_results_highestscore.csv have the format of the original tool,',
        'which has no place for this note. The other tables name the model in their column "model".',
        '',
      ].join('\n'),
    );
  } finally {
    closeSync(descriptor);
  }
}
