import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { appError, AppFailure } from '../contract/errors.ts';
import { whereSchema, type Where } from '../contract/rpc/runs.ts';
import { slurmTasks } from '../contract/terminal/slurmScript.ts';
import type { StartOptions } from '../engine/index.ts';
import { positiveInteger } from './numberArguments.ts';
import { parsed } from './parsed.ts';

/** The address of a head node, in the form that the pool takes. */
const RAY_ADDRESS = /^(?!-)[\w.:[\]-]+:\d+$/;

/** Flags that say on which cluster to compute. */
export interface ClusterFlags {
  ray?: string;
  sharedStorage?: boolean;
  cpuWorkers?: number;
  slurm?: string;
  slurmLogin?: string;
  slurmByHand?: boolean;
  maxWait?: number;
}

export function withClusterOptions(command: Command): Command {
  return command
    .option('--ray <address>', 'compute on a Ray cluster: HOST:PORT of its head node')
    .option(
      '--no-shared-storage',
      'with --ray: the nodes cannot read the folder of the results; parts and scores go through Ray',
    )
    .option(
      '--cpu-workers <n>',
      "with --ray: this many workers on each node's processors (default: none)",
      positiveInteger,
    )
    .option('--slurm <script>', 'compute on a SLURM cluster: a batch script, such as slurm-script prints')
    .option('--slurm-login <host>', 'with --slurm: where sbatch is, by ssh (default: on this computer)')
    .option('--slurm-by-hand', 'with --slurm: wait until you have submitted the script yourself')
    .option(
      '--max-wait <minutes>',
      'with --ray or --slurm: pause the run where no device has been lent for so long (default: wait while it is queued)',
      positiveInteger,
    );
}

/** How to start a run that may compute on a cluster, as far as the flags say. */
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
  const { ray, sharedStorage = true, cpuWorkers, slurm } = flags;
  if (slurm !== undefined && ray !== undefined)
    throw usage('A run computes on one cluster: name --ray or --slurm.');
  if (slurm === undefined) {
    if (flags.slurmLogin !== undefined) throw usage('--slurm-login means something with --slurm only.');
    if (flags.slurmByHand) throw usage('--slurm-by-hand means something with --slurm only.');
  }
  if (ray === undefined) {
    if (!sharedStorage) throw usage('--no-shared-storage means something with --ray only.');
    if (cpuWorkers !== undefined) throw usage('--cpu-workers means something with --ray only.');
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
    shared_storage: sharedStorage,
    cpu_workers_per_node: cpuWorkers ?? 0,
  });
}

function slurmAsked(path: string, { slurmLogin, slurmByHand = false }: ClusterFlags): Where {
  const script = read(path);
  const asked = slurmTasks(script);
  if (!asked) throw usage(`The array in ${path} is none that SLURM takes.`);
  return parsed(whereSchema, {
    kind: 'slurm',
    script: slurmByHand ? null : script,
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
