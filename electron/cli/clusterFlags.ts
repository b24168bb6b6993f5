import type { Command } from 'commander';
import { appError, AppFailure } from '../contract/errors.ts';
import { whereSchema, type Where } from '../contract/rpc/runs.ts';
import { positiveInteger } from './numberArguments.ts';
import { parsed } from './parsed.ts';

/** Flags that say on which cluster to compute. */
export interface ClusterFlags {
  ray?: string;
  sharedStorage?: boolean;
  cpuWorkers?: number;
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
      "with --ray: so many workers on each node's processors (default: none)",
      positiveInteger,
    );
}

/** Where to compute, as far as that was said; undefined where it wasn't. */
export function whereAsked(flags: ClusterFlags, devices: string | undefined): Where | undefined {
  const { ray, sharedStorage = true, cpuWorkers } = flags;
  if (ray === undefined) {
    if (!sharedStorage) throw usage('--no-shared-storage means something with --ray only.');
    if (cpuWorkers !== undefined) throw usage('--cpu-workers means something with --ray only.');
    return undefined;
  }
  if (devices !== undefined)
    throw usage('--devices chooses among the devices of this computer, and --ray computes on others.');
  return parsed(whereSchema, {
    kind: 'ray',
    address: ray,
    shared_storage: sharedStorage,
    cpu_workers_per_node: cpuWorkers ?? 0,
  });
}

const usage = (cause: string): AppFailure => new AppFailure(appError('usage', cause));
