import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { appError, AppFailure } from '../contract/errors.ts';
import { whereSchema, type Where } from '../contract/rpc/runs.ts';
import { slurmShares } from '../contract/terminal/slurmScript.ts';
import type { StartOptions } from '../engine/index.ts';
import { positiveInteger, parsed } from './commonFlags.ts';

/** Address of a head node. */
const RAY_ADDRESS = /^(?!-)[\w.:[\]-]+:\d+$/;

/** Several shares for each GPU of a small cluster, so that a late share delays less. */
const DEFAULT_SHARES = 8;

/** Flags that choose the cluster to compute on. */
export interface ClusterFlags {
  ray?: string;
  shares?: number;
  cpus?: number;
  workers?: number;
  slurm?: string;
  slurmLogin?: string;
  maxWait?: number;
}

export function withClusterOptions(command: Command): Command {
  return command
    .option('--ray <address>', 'compute on a Ray cluster: HOST:PORT of its head node')
    .option(
      '--shares <n>',
      'with --ray: into how many tasks the run is divided (default: 8)',
      positiveInteger,
    )
    .option(
      '--cpus <n>',
      'with --ray: a task computes on so many processors (default: on one GPU)',
      positiveInteger,
    )
    .option(
      '--workers <n>',
      'with --ray: so many tasks at once (default: as many as Ray lends)',
      positiveInteger,
    )
    .option('--slurm <script>', 'compute on a SLURM cluster: a batch script, such as slurm-script prints')
    .option('--slurm-login <host>', 'with --slurm: where sbatch is, by ssh (default: on this computer)')
    .option(
      '--max-wait <minutes>',
      'with --ray or --slurm: pause the run where no task has run for so long (default: wait while they are queued)',
      positiveInteger,
    );
}

/** How to start a run that may compute on a cluster, according to the flags. */
export function startAsked(flags: ClusterFlags, devices: string | undefined): StartOptions {
  const { maxWait } = flags;
  return {
    devices,
    where: whereAsked(flags, devices),
    maxWaitMs: maxWait === undefined ? undefined : maxWait * 60_000,
  };
}

/** Where to compute; undefined if no flag says so. */
export function whereAsked(flags: ClusterFlags, devices: string | undefined): Where | undefined {
  const { ray, shares, cpus, workers, slurm } = flags;
  if (slurm !== undefined && ray !== undefined)
    throw usage('A run computes on one cluster: name --ray or --slurm.');
  if (slurm === undefined) {
    if (flags.slurmLogin !== undefined) throw usage('--slurm-login means something with --slurm only.');
  }
  if (ray === undefined) {
    if (shares !== undefined) throw usage('--shares means something with --ray only.');
    if (cpus !== undefined) throw usage('--cpus means something with --ray only.');
    if (workers !== undefined) throw usage('--workers means something with --ray only.');
    if (slurm === undefined) return undefined;
    if (devices !== undefined)
      throw usage('--devices chooses among the devices of this computer, and --slurm computes on others.');
    return slurmAsked(slurm, flags);
  }
  if (!RAY_ADDRESS.test(ray))
    throw usage(`--ray takes HOST:PORT of the head node, such as head:6379, and not ${ray}.`);
  if (devices !== undefined)
    throw usage('--devices chooses among the devices of this computer, and --ray computes on others.');
  return parsed(whereSchema, {
    kind: 'ray',
    address: ray,
    shares: shares ?? DEFAULT_SHARES,
    cpus: cpus ?? 0,
    workers: workers ?? 0,
  });
}

function slurmAsked(path: string, { slurmLogin }: ClusterFlags): Where {
  const script = read(path);
  const asked = slurmShares(script);
  if (!asked) throw usage(`The tasks in ${path} must be counted from 1, such as "#SBATCH --array=1-8".`);
  return parsed(whereSchema, {
    kind: 'slurm',
    script,
    login: slurmLogin ?? null,
    ...asked,
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (reason) {
    throw usage(
      `The batch script cannot be read: ${reason instanceof Error ? reason.message : String(reason)}`,
    );
  }
}

const usage = (cause: string): AppFailure => new AppFailure(appError('usage', cause));
