import { z } from 'zod';
import { MOST_CLUSTER_SHARES, type SlurmChoice } from '../cluster.ts';
import { quotedForShell } from './predictCommand.ts';

/** The settings of a cluster's batch script. An empty text leaves a setting to the cluster. */
export const slurmJobSchema = z.object({
  partition: z.string(),
  account: z.string(),
  qos: z.string(),
  /** How the cluster expects a task to request GPUs; `none` computes on processors. */
  gpu: z.enum(['gres', 'gpus', 'none']),
  /** GPUs of a task, which computes on all of them, for example all of a node. */
  gpusPerTask: z.number(),
  /** For example a100; empty for any GPU. */
  gpuType: z.string(),
  cpus: z.number().nullable(),
  /** Memory of a task, such as 32G. */
  memory: z.string(),
  /** For example 4:00:00, or 1-12:00:00. */
  time: z.string(),
  /** Number of tasks; each computes one share of the run. */
  tasks: z.number(),
  /** Tasks that run at once; null for as many as the cluster allows. */
  mostAtOnce: z.number().nullable(),
  /** For `module load`, separated by spaces. */
  modules: z.string(),
  container: z.enum(['none', 'apptainer', 'singularity']),
  image: z.string(),
  /** The command `virnucpro` in the container or on the nodes if it is not this program; else empty. */
  program: z.string(),
  /** The user's own lines: `#SBATCH` options, and commands before the task. */
  extra: z.string(),
});
export type SlurmJob = Readonly<z.infer<typeof slurmJobSchema>>;

export const SLURM_JOB_DEFAULTS: SlurmJob = {
  partition: '',
  account: '',
  qos: '',
  gpu: 'gres',
  gpuType: '',
  gpusPerTask: 1,
  cpus: 4,
  memory: '32G',
  time: '4:00:00',
  tasks: 4,
  mostAtOnce: null,
  modules: '',
  container: 'none',
  image: '',
  program: '',
  extra: '',
};

/** Seconds before its time limit at which SLURM signals a task: it stops after its batch and is queued again. */
const SIGNAL_BEFORE_END_S = 90;

const ONE_NAME = /^[\w.@+-]{1,100}$/;
const NAMES = /^[\w.@+-]{1,100}(,[\w.@+-]{1,100})*$/;
const SIZE = /^[1-9]\d{0,9}[KMGT]?$/;
const TIME = /^(\d{1,3}-\d{1,2}(:\d{1,2}){0,2}|\d{1,6}(:\d{1,2}){0,2})$/;
const MODULES = /^[\w./+@:=-]+( +[\w./+@:=-]+)*$/;
/** Line ends and other characters that would end a line or hide part of it. */
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
// eslint-disable-next-line no-control-regex
const CONTROL_IN_LINES = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/;

const RULES: { readonly [Field in keyof SlurmJob]?: (job: SlurmJob) => boolean } = {
  partition: ({ partition }) => partition === '' || NAMES.test(partition),
  account: ({ account }) => account === '' || ONE_NAME.test(account),
  qos: ({ qos }) => qos === '' || ONE_NAME.test(qos),
  gpuType: ({ gpuType }) => gpuType === '' || ONE_NAME.test(gpuType),
  gpusPerTask: ({ gpusPerTask }) => isCount(gpusPerTask, 64),
  cpus: ({ cpus }) => cpus === null || isCount(cpus, 1024),
  memory: ({ memory }) => memory === '' || SIZE.test(memory),
  time: ({ time }) => time === '' || TIME.test(time),
  tasks: ({ tasks }) => isCount(tasks, MOST_CLUSTER_SHARES),
  mostAtOnce: ({ mostAtOnce }) => mostAtOnce === null || isCount(mostAtOnce, MOST_CLUSTER_SHARES),
  modules: ({ modules }) => modules.trim() === '' || MODULES.test(modules.trim()),
  image: ({ container, image }) =>
    container === 'none' || (image.trim() !== '' && image.length < 4096 && !CONTROL.test(image)),
  program: ({ program }) => program.length < 4096 && !CONTROL.test(program),
  extra: ({ extra }) => extra.length < 20_000 && !CONTROL_IN_LINES.test(extra.replaceAll('\r\n', '\n')),
};

/** The settings that prevent a script: each is written on a line of its own and must not reach beyond it. */
export function slurmJobProblems(job: SlurmJob): (keyof SlurmJob)[] {
  const fields = Object.keys(RULES) as (keyof SlurmJob)[];
  return fields.filter((field) => !RULES[field]?.(job));
}

/**
 * The batch script of a run, or null if the settings have a problem. It is the same for every run: its
 * arguments are the run's folder and, if the engine submits it, the command that starts the engine's own
 * program, and the number of shares.
 */
export function slurmScript(job: SlurmJob): string | null {
  if (slurmJobProblems(job).length > 0) return null;
  const extra = job.extra.replaceAll('\r\n', '\n').split('\n');
  const isOption = (line: string) => line.trimStart().startsWith('#SBATCH');
  const commands = extra.filter((line) => !isOption(line) && line.trim() !== '');
  const modules = job.modules.trim();
  const own = job.program.trim() || (job.container === 'none' ? '' : 'virnucpro');
  const devices = job.gpu === 'none' ? ` ${ON_PROCESSORS}` : '';
  return [
    '#!/bin/bash -l',
    '# Computes the shares of a prepared run: virnucpro predict INPUTS --slurm SCRIPT, or by hand',
    '#   virnucpro prepare INPUTS -o RUN; sbatch SCRIPT RUN; then, when all tasks have ended, virnucpro finish RUN',
    ...options(job).map((option) => `#SBATCH ${option}`),
    ...extra.filter(isOption).map((line) => line.trim()),
    '',
    `run=\${1:?'Name the folder of the run: sbatch SCRIPT RUN'}`,
    own === '' ? OWN_PROGRAM : `program=${quotedForShell(own)}`,
    'share=$SLURM_ARRAY_TASK_ID/${3:-$SLURM_ARRAY_TASK_MAX}',
    ...(modules === '' ? [] : [`module load ${modules.split(/ +/).map(quotedForShell).join(' ')}`]),
    ...commands,
    '',
    '# SLURM signals this script before its time ends, or when the task has to go: the program then stops after its batch.',
    `trap 'signalled=1; ending=1; kill -TERM "$!" 2>/dev/null' USR1`,
    `trap 'signalled=1; kill -TERM "$!" 2>/dev/null' TERM`,
    `${[...container(job), '"$program"'].join(' ')} compute "$run" --share "$share"${devices} &`,
    'while signalled=; wait "$!"; status=$?; [ -n "$signalled" ]; do :; done',
    '# The time ends before the share: into the queue again, where it goes on from what it has.',
    // Uses the array's number and the task's: one task of each array has the array's own number as its id,
    // which would requeue all of them.
    'if [ -n "$ending" ] && [ "$status" -ne 0 ]; then scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" && sleep 60; fi',
    'exit "$status"',
    '',
  ].join('\n');
}

/** The line of a script that starts the engine's own program on the nodes. */
export const OWN_PROGRAM = 'program=${2:-virnucpro}';

const ON_PROCESSORS = '--devices "cpu:${SLURM_CPUS_PER_TASK:-1}"';

/**
 * How many shares a script computes, and whether on processors; also works for scripts that were changed or
 * written by hand.
 * Null if its array does not count from 1, as shares do: `1-64` or `1-64%8`.
 */
export function slurmShares(script: string): { shares: number; on_processors: boolean } | null {
  const array = /^#SBATCH\s+(?:--array[= ][ \t]*|-a[ \t]*)(\S+)/m.exec(script)?.[1] ?? '1';
  const [found, last = '1'] = /^1(?:-(\d+))?(?:%\d+)?$/.exec(array) ?? [];
  const shares = found === undefined ? NaN : Number(last);
  return isCount(shares, MOST_CLUSTER_SHARES)
    ? { shares, on_processors: script.includes('--devices "cpu:') }
    : null;
}

/** A shorter task would spend most of its time starting. */
const SHORT_MINUTES = 10;

/**
 * The minutes of an sbatch time limit that is too short to be useful; null for other limits, and for text
 * that is no limit.
 */
export function shortTime(limit: string): number | null {
  if (!TIME.test(limit)) return null;
  const [days = '', rest = ''] = limit.includes('-') ? limit.split('-') : ['0', limit];
  const counts = rest.split(':').map(Number);
  // Without days, one number means minutes, and two mean minutes and seconds.
  const [hours = 0, minutes = 0, seconds = 0] =
    limit.includes('-') || counts.length === 3 ? counts : [0, ...counts];
  const all = Number(days) * 1440 + hours * 60 + minutes + seconds / 60;
  // For SLURM, 0 means no limit.
  return all > 0 && all < SHORT_MINUTES ? Math.floor(all) : null;
}

/** The same for the time limit in a script, which may be hand-written. */
export const shortTimeOf = (script: string): number | null =>
  shortTime(/^#SBATCH\s+(?:--time[= ]|-t ?)\s*(\S+)/m.exec(script)?.[1] ?? '');

/**
 * The place where a run with such a job is computed; null if no script can be made. `login`: the computer
 * with SLURM's programs, null for this one.
 */
export function slurmPlace(job: SlurmJob, login: string | null): SlurmChoice | null {
  const script = slurmScript(job);
  if (script === null) return null;
  return { kind: 'slurm', script, shares: job.tasks, login, on_processors: job.gpu === 'none' };
}

function options(job: SlurmJob): string[] {
  const type = job.gpuType === '' ? '' : `${job.gpuType}:`;
  const throttle = job.mostAtOnce === null ? '' : `%${job.mostAtOnce}`;
  const set = (name: string, value: string | number | null): string[] =>
    value === null || value === '' ? [] : [`--${name}=${value}`];
  return [
    '--job-name=virnucpro',
    `--array=1-${job.tasks}${throttle}`,
    '--nodes=1',
    '--ntasks=1',
    ...set('partition', job.partition),
    ...set('account', job.account),
    ...set('qos', job.qos),
    ...(job.gpu === 'gres' ? [`--gres=gpu:${type}${job.gpusPerTask}`] : []),
    ...(job.gpu === 'gpus' ? [`--gpus=${type}${job.gpusPerTask}`] : []),
    ...set('cpus-per-task', job.cpus),
    ...set('mem', job.memory),
    ...set('time', job.time),
    `--signal=B:USR1@${SIGNAL_BEFORE_END_S}`,
    '--requeue',
    '--open-mode=append',
  ];
}

/** `--nv` makes the node's NVIDIA driver available in the container, which also needs the run's folder. */
function container({ container: program, image, gpu }: SlurmJob): string[] {
  if (program === 'none') return [];
  return [
    program,
    'exec',
    ...(gpu === 'none' ? [] : ['--nv']),
    '--bind',
    '"$run"',
    quotedForShell(image.trim()),
  ];
}

function isCount(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= most;
}
