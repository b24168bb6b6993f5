import { z } from 'zod';
import { parseJson } from '../../../electron/contract/parseJson.ts';
import type { SlurmChoice } from '../../../electron/contract/index.ts';
import {
  slurmPlace,
  slurmScript,
  USUAL_SBATCH_OPTIONS,
} from '../../../electron/contract/terminal/slurmScript.ts';

const KEY = 'virnucpro.slurm';
const rememberedSchema = z.object({ script: z.string(), login: z.string().nullable() });

/** The script that was edited last: a cluster's partition and account stay the same from run to run. */
export function rememberedPlace(): SlurmChoice {
  let remembered: z.infer<typeof rememberedSchema> | undefined;
  try {
    remembered = parseJson(rememberedSchema, localStorage.getItem(KEY) ?? undefined);
  } catch {
    // A browser may forbid access to its storage.
  }
  const { script, login } = remembered ?? { script: slurmScript(USUAL_SBATCH_OPTIONS, false), login: null };
  return placeOf(script, login);
}

export function rememberPlace({ script, login }: SlurmChoice): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ script, login }));
  } catch {
    // As above.
  }
}

/** The text in the form, which may not be a script yet. */
export const placeOf = (script: string, login: string | null): SlurmChoice =>
  slurmPlace(script, login) ?? { kind: 'slurm', script, shares: 1, login, on_processors: false };
