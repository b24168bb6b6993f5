import type { RunSummary } from '../../../electron/contract/index.ts';
import { go } from '../navigation.ts';
import { choicesFrom } from './choices.ts';
import { addPaths, choose, startOver } from './store.ts';

/** Fills the New run screen with the inputs and settings of an earlier run. */
export async function prepareAgain(run: RunSummary): Promise<void> {
  startOver();
  choose(choicesFrom(run.request));
  go({ screen: 'new-run' });
  await addPaths(run.plan.inputs.map((input) => input.path));
}
