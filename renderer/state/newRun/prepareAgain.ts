import type { RunSummary } from '../../../electron/contract/index.ts';
import { go } from '../navigation.ts';
import { choicesFrom, type RunChoices } from './choices.ts';
import { addPaths, choose, startOver } from './store.ts';

/** Fills the New run screen with the settings of an earlier run, or others, and its inputs. */
export async function prepareAgain(run: RunSummary, others: Partial<RunChoices> = {}): Promise<void> {
  startOver();
  choose({ ...choicesFrom(run.request), ...others });
  go({ screen: 'new-run' });
  await addPaths(run.plan.inputs.map((input) => input.path));
}
