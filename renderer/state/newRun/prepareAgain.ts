import type { RunSummary } from '../../../electron/contract/index.ts';
import { go } from '../navigation.ts';
import { choicesFrom } from './choices.ts';
import { addPaths, choose, startOver } from './store.ts';

/** Fills the New run screen with the settings of an earlier run and its inputs, or others, such as those it left out. */
export async function prepareAgain(
  run: RunSummary,
  paths: readonly string[] = run.plan.inputs.map((input) => input.path),
): Promise<void> {
  startOver();
  choose(choicesFrom(run.request));
  go({ screen: 'new-run' });
  await addPaths(paths);
}
