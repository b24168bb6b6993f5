import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { USUAL_RAY_SHARES } from '../contract/cluster.ts';
import { usage } from '../contract/errors.ts';
import { whereSchema, type Where } from '../contract/rpc/runs.ts';
import { quotedForShell } from '../contract/terminal/predictCommand.ts';
import { slurmPlace, slurmScript, USUAL_SBATCH_OPTIONS } from '../contract/terminal/slurmScript.ts';
import { ownCommand } from '../engine/index.ts';
import { positiveInteger, parsed } from './commonFlags.ts';

/** Address of a head node. */
const RAY_ADDRESS = /^(?!-)[\w.:[\]-]+:\d+$/;

/** Flags that choose the cluster to compute on. */
export interface ClusterFlags {
  ray?: string;
  shares?: number;
  cpus?: number;
  slurm?: string;
}

export function withClusterOptions(command: Command): Command {
  const text: readonly (readonly [flag: string, help: string])[] = [
    ['--ray <address>', 'compute on a Ray cluster: HOST:PORT of its head node'],
    ['--slurm <script>', 'compute on a SLURM cluster: a batch script, such as slurm-script prints'],
  ];
  const counts: typeof text = [
    ['--shares <n>', `with --ray: into how many tasks the run is divided (default: ${USUAL_RAY_SHARES})`],
    ['--cpus <n>', 'with --ray: a task computes on so many processors (default: on one GPU)'],
  ];
  for (const [flag, help] of text) command.option(flag, help);
  for (const [flag, help] of counts) command.option(flag, help, positiveInteger);
  return command;
}

/** Where to compute; undefined if no flag says so. */
export function whereAsked(flags: ClusterFlags, devices: string | undefined): Where | undefined {
  const { ray, shares, cpus, slurm } = flags;
  if (slurm !== undefined && ray !== undefined)
    throw usage('A run computes on one cluster: name --ray or --slurm.');
  for (const [flag, value] of Object.entries({ shares, cpus }))
    if (value !== undefined && ray === undefined) throw usage(`--${flag} means something with --ray only.`);
  if (slurm === undefined && ray === undefined) return undefined;
  if (devices !== undefined)
    throw usage('--devices chooses among the devices of this computer, and a cluster computes on others.');
  if (slurm !== undefined) return slurmAsked(slurm);
  if (!RAY_ADDRESS.test(ray ?? ''))
    throw usage(`--ray takes HOST:PORT of the head node, such as head:6379, and not ${ray}.`);
  return parsed(whereSchema, { kind: 'ray', address: ray, shares, cpus });
}

function slurmAsked(path: string): Where {
  let script: string;
  try {
    script = readFileSync(path, 'utf8');
  } catch (reason) {
    throw usage(
      `The batch script cannot be read: ${reason instanceof Error ? reason.message : String(reason)}`,
    );
  }
  const place = slurmPlace(script);
  if (!place) throw usage(`The tasks in ${path} must be counted from 1, such as "#SBATCH --array=1-8".`);
  return parsed(whereSchema, place);
}

/** The batch script with the options of sbatch that were named, as a shell has divided them into words. */
export function scriptOf(words: readonly string[], onProcessors: boolean): string {
  const options: string[] = [];
  for (const word of words) {
    if (/[\r\n]/.test(word)) throw usage('An option of sbatch has to be on one line.');
    const quoted = /\s/.test(word) ? quotedForShell(word) : word;
    if (word.startsWith('-')) options.push(quoted);
    else options.push(`${options.pop() ?? ''} ${quoted}`.trim());
  }
  const usual = USUAL_SBATCH_OPTIONS.filter((option) => !onProcessors || !option.includes('gpu'));
  return slurmScript(options.length === 0 ? usual : options, onProcessors, ownCommand(undefined));
}
