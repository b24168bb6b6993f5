import type { SlurmChoice } from '../../../electron/contract/index.ts';
import {
  slurmPlace,
  slurmScript,
  USUAL_SBATCH_OPTIONS,
} from '../../../electron/contract/terminal/slurmScript.ts';

const KEY = 'virnucpro.slurm.script';

/** The script that was edited last: a cluster's partition and account stay the same from run to run. */
export function rememberedPlace(): SlurmChoice {
  let script: string | null = null;
  try {
    script = localStorage.getItem(KEY);
  } catch {
    // A browser may forbid access to its storage.
  }
  return placeOf(script ?? slurmScript(USUAL_SBATCH_OPTIONS, false));
}

export function rememberPlace({ script }: SlurmChoice): void {
  try {
    localStorage.setItem(KEY, script);
  } catch {
    // As above.
  }
}

/** The text in the form, which may not be a script yet. */
export const placeOf = (script: string): SlurmChoice =>
  slurmPlace(script) ?? { kind: 'slurm', script, shares: 1, on_processors: false };
