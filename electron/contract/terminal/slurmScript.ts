import { MOST_CLUSTER_SHARES, type SlurmChoice } from '../cluster.ts';
import { quotedForShell } from './predictCommand.ts';

/** What a script requests if nobody says otherwise, in sbatch's own words. */
export const USUAL_SBATCH_OPTIONS: readonly string[] = [
  '--array=1-4',
  '--gres=gpu:1',
  '--cpus-per-task=4',
  '--mem=32G',
  '--time=4:00:00',
];

/** Seconds before its time limit at which SLURM signals a task: it stops after its batch and is queued again. */
const SIGNAL_BEFORE_END_S = 90;

/** A task whose time ends before its first part would otherwise be queued for ever. */
const MOST_RESTARTS = 50;

const ON_PROCESSORS = '--devices "cpu:${SLURM_CPUS_PER_TASK:-1}"';

/**
 * A batch script with these options of sbatch, one on each line. It is the same for every run: its arguments
 * are the run's folder and, if the engine submits it, the number of shares. People may change it. `program`: the
 * words that start `virnucpro` on the nodes.
 */
export function slurmScript(
  options: readonly string[],
  onProcessors: boolean,
  program: readonly string[],
): string {
  const devices = onProcessors ? ` ${ON_PROCESSORS}` : '';
  return [
    '#!/bin/bash -l',
    '# Computes the shares of a prepared run: virnucpro predict INPUTS --slurm SCRIPT, or by hand',
    '#   virnucpro prepare INPUTS -o RUN; sbatch SCRIPT RUN; then, when all tasks have ended, virnucpro finish RUN',
    '# Change these options of sbatch to what the cluster needs. Each task of the array computes one share.',
    ...options.map((option) => `#SBATCH ${option}`),
    '#SBATCH --job-name=virnucpro',
    '#SBATCH --nodes=1',
    '#SBATCH --ntasks=1',
    `#SBATCH --signal=B:USR1@${SIGNAL_BEFORE_END_S}`,
    '#SBATCH --requeue',
    '#SBATCH --open-mode=append',
    '',
    `run=\${1:?'Name the folder of the run: sbatch SCRIPT RUN'}`,
    '# Where the nodes have a program of their own, or a container, have this line name it.',
    `program=(${program.map(quotedForShell).join(' ')})`,
    'share=$SLURM_ARRAY_TASK_ID/${2:-$SLURM_ARRAY_TASK_MAX}',
    '# Load modules here, if the nodes need any.',
    '',
    '# SLURM signals this script before its time ends, or when the task has to go: the program then stops after its batch.',
    `trap 'signalled=1; ending=1; kill -TERM "$!" 2>/dev/null' USR1`,
    `trap 'signalled=1; kill -TERM "$!" 2>/dev/null' TERM`,
    `"\${program[@]}" compute "$run" --share "$share"${devices} &`,
    'while signalled=; wait "$!"; status=$?; [ -n "$signalled" ]; do :; done',
    '# The time ends before the share: into the queue again, where it goes on from what it has.',
    // Uses the array's number and the task's: one task of each array has the array's own number as its id,
    // which would requeue all of them.
    `if [ -n "$ending" ] && [ "$status" -ne 0 ] && [ "\${SLURM_RESTART_COUNT:-0}" -lt ${MOST_RESTARTS} ]; then`,
    '  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" && sleep 60',
    'fi',
    'exit "$status"',
    '',
  ].join('\n');
}

/** The line of the tasks: `#SBATCH --array=1-64`, or `-a 1-64%8` for eight at a time. The last one counts. */
const ARRAY = /^#SBATCH[ \t]+(?:--array[= ]|-a[ \t]*)1-(\d+)(%\d+)?[ \t]*$/gm;

/**
 * The place where a run with this script computes, which may have been changed or written by hand. Null if
 * it has no line of tasks that are counted from 1, as shares are.
 */
export function slurmPlace(script: string): SlurmChoice | null {
  const [, last] = [...script.matchAll(ARRAY)].at(-1) ?? [];
  const shares = Number(last);
  if (!(shares >= 1 && shares <= MOST_CLUSTER_SHARES)) return null;
  return { kind: 'slurm', script, shares, on_processors: script.includes('--devices "cpu:') };
}

/** How many tasks a script has computed at once, as sbatch writes it: `%8`, or nothing. */
export const tasksAtOnce = (script: string): string => [...script.matchAll(ARRAY)].at(-1)?.[2] ?? '';
