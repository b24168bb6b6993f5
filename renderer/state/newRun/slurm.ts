import type { SlurmChoice } from '../../../electron/contract/index.ts';
import {
  slurmPlace,
  slurmScript,
  USUAL_SBATCH_OPTIONS,
} from '../../../electron/contract/terminal/slurmScript.ts';
import { store, stored } from '../storage.ts';

const KEY = 'virnucpro.slurm.script';

/** The script that was edited last: a cluster's partition and account stay the same from run to run. */
export const rememberedPlace = (): SlurmChoice =>
  placeOf(stored(KEY) ?? slurmScript(USUAL_SBATCH_OPTIONS, false));

export const rememberPlace = ({ script }: SlurmChoice) => store(KEY, script);

/** The text in the form, which may not be a script yet. */
export const placeOf = (script: string): SlurmChoice =>
  slurmPlace(script) ?? { kind: 'slurm', script, shares: 1, on_processors: false };
