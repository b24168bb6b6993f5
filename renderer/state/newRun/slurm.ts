import { z } from 'zod';
import { create } from 'zustand';
import type { Where } from '../../../electron/contract/index.ts';
import { parseJson } from '../../../electron/contract/parseJson.ts';
import {
  SLURM_JOB_DEFAULTS,
  slurmJobSchema,
  slurmPlace,
  slurmScript,
} from '../../../electron/contract/terminal/slurmScript.ts';

const settingsSchema = z.object({
  job: slurmJobSchema,
  /** The host with SLURM's programs, in the form that ssh takes; empty for the engine's own computer. */
  login: z.string(),
});
/** What a run requests from a SLURM cluster, in the fields of the form. */
export type SlurmSettings = Readonly<z.infer<typeof settingsSchema>>;
type SlurmPlace = Extract<Where, { kind: 'slurm' }>;

const KEY = 'virnucpro.slurm';

/** A cluster's partition and account stay the same from run to run. */
export const useSlurm = create<SlurmSettings>(remembered);

function remembered(): SlurmSettings {
  try {
    const settings = parseJson(settingsSchema, localStorage.getItem(KEY) ?? undefined);
    if (settings) return settings;
  } catch {
    // A browser may forbid access to its storage.
  }
  return { job: SLURM_JOB_DEFAULTS, login: '' };
}

export function rememberSlurm(settings: SlurmSettings): void {
  useSlurm.setState(settings);
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // As above.
  }
}

/** Where a run with these settings computes. The script is empty if none can be made from them. */
export function placeOf({ job, login }: SlurmSettings): SlurmPlace {
  const place = slurmPlace(job, login.trim() || null);
  return place ?? { kind: 'slurm', script: '', shares: 1, login: null, on_processors: job.gpu === 'none' };
}

/** Whether the script differs from the form's, because it comes from an earlier run or was written by hand. */
export function hasOtherScript(place: SlurmPlace, { job }: SlurmSettings): boolean {
  return place.script !== '' && place.script !== slurmScript(job);
}
