import { SLURM_JOB_DEFAULTS, type SlurmJob } from '../../../electron/contract/slurmScript.ts';

/** What a run asks a SLURM cluster for, as the form has it. */
export interface SlurmSettings {
  readonly job: SlurmJob;
  /** Where SLURM's programs are, as ssh takes it; empty for the engine's own computer. */
  readonly login: string;
  /** A person submits the script. */
  readonly bySelf: boolean;
}

export const SLURM_DEFAULTS: SlurmSettings = { job: SLURM_JOB_DEFAULTS, login: '', bySelf: false };
