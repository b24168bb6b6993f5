import { z } from 'zod';
import type { PoolChoice } from '../protocol/pool.ts';
import { quotedForShell } from './quotedForShell.ts';

/** What a cluster's batch script asks for. Empty text leaves a setting to the cluster. */
export const slurmJobSchema = z.object({
  partition: z.string(),
  account: z.string(),
  qos: z.string(),
  /** How a GPU for each task is asked for, as the cluster wants it; `none` computes on processors. */
  gpu: z.enum(['gres', 'gpus', 'none']),
  /** Such as a100; any GPU where it is empty. */
  gpuType: z.string(),
  cpus: z.number().nullable(),
  /** Of a task, such as 32G. */
  memory: z.string(),
  /** Such as 4:00:00, or 1-12:00:00. */
  time: z.string(),
  /** One worker each. */
  tasks: z.number(),
  /** At once; null for as many as the cluster lets run. */
  mostAtOnce: z.number().nullable(),
  /** For `module load`, separated by spaces. */
  modules: z.string(),
  container: z.enum(['none', 'apptainer', 'singularity']),
  image: z.string(),
  /** Of the container, or where the nodes have another than this computer; empty for the same. */
  python: z.string(),
  /** Lines of the user's own: `#SBATCH` options, and commands before the task. */
  extra: z.string(),
});
export type SlurmJob = Readonly<z.infer<typeof slurmJobSchema>>;

export const SLURM_JOB_DEFAULTS: SlurmJob = {
  partition: '',
  account: '',
  qos: '',
  gpu: 'gres',
  gpuType: '',
  cpus: 4,
  memory: '32G',
  time: '4:00:00',
  tasks: 4,
  mostAtOnce: null,
  modules: '',
  container: 'none',
  image: '',
  python: '',
  extra: '',
};

/** Seconds before its time limit at which SLURM signals a task: it finishes its batch and is queued again. */
const TOLD_BEFORE_END_S = 90;
/** Status of a task whose time has ended: REQUEUE_EXIT_CODE in node_task.py. */
const QUEUE_AGAIN = 75;
const MOST_TASKS = 10_000;

const ONE_NAME = /^[\w.@+-]{1,100}$/;
const NAMES = /^[\w.@+-]{1,100}(,[\w.@+-]{1,100})*$/;
const SIZE = /^[1-9]\d{0,9}[KMGT]?$/;
const TIME = /^(\d{1,3}-\d{1,2}(:\d{1,2}){0,2}|\d{1,6}(:\d{1,2}){0,2})$/;
const MODULES = /^[\w./+@:=-]+( +[\w./+@:=-]+)*$/;
/** Line ends and other signs that would end a line, or hide what it says. */
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
// eslint-disable-next-line no-control-regex
const CONTROL_IN_LINES = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/;

const RULES: { readonly [Field in keyof SlurmJob]?: (job: SlurmJob) => boolean } = {
  partition: ({ partition }) => partition === '' || NAMES.test(partition),
  account: ({ account }) => account === '' || ONE_NAME.test(account),
  qos: ({ qos }) => qos === '' || ONE_NAME.test(qos),
  gpuType: ({ gpuType }) => gpuType === '' || ONE_NAME.test(gpuType),
  cpus: ({ cpus }) => cpus === null || isCount(cpus, 1024),
  memory: ({ memory }) => memory === '' || SIZE.test(memory),
  time: ({ time }) => time === '' || TIME.test(time),
  tasks: ({ tasks }) => isCount(tasks, MOST_TASKS),
  mostAtOnce: ({ mostAtOnce }) => mostAtOnce === null || isCount(mostAtOnce, MOST_TASKS),
  modules: ({ modules }) => modules.trim() === '' || MODULES.test(modules.trim()),
  image: ({ container, image }) =>
    container === 'none' || (image.trim() !== '' && image.length < 4096 && !CONTROL.test(image)),
  python: ({ python }) => python.length < 4096 && !CONTROL.test(python),
  extra: ({ extra }) => extra.length < 20_000 && !CONTROL_IN_LINES.test(extra.replaceAll('\r\n', '\n')),
};

/** The settings of which no script can be made: each stands in a line of its own, and must not reach beyond it. */
export function slurmJobProblems(job: SlurmJob): (keyof SlurmJob)[] {
  const fields = Object.keys(RULES) as (keyof SlurmJob)[];
  return fields.filter((field) => !RULES[field]?.(job));
}

/**
 * The batch script of a run, or null where the settings have a problem. Its argument is the pool's folder, in which the run's
 * engine leaves `task`: what starts a worker with the engine's own Python. So the script is the same for every run.
 */
export function slurmScript(job: SlurmJob): string | null {
  if (slurmJobProblems(job).length > 0) return null;
  const extra = job.extra.replaceAll('\r\n', '\n').split('\n');
  const isOption = (line: string) => line.trimStart().startsWith('#SBATCH');
  const commands = extra.filter((line) => !isOption(line) && line.trim() !== '');
  const modules = job.modules.trim();
  return [
    '#!/bin/bash -l',
    ...options(job).map((option) => `#SBATCH ${option}`),
    ...extra.filter(isOption).map((line) => line.trim()),
    '',
    `pool=\${1:?'The folder that the run names is missing: sbatch SCRIPT FOLDER'}`,
    ...(modules === '' ? [] : [`module load ${modules.split(/ +/).map(quotedForShell).join(' ')}`]),
    ...(job.python === '' ? [] : [`export VIRNUCPRO_PYTHON=${quotedForShell(job.python)}`]),
    ...commands,
    '',
    '# SLURM signals this script when the time ends or the task has to go, and this script signals the worker.',
    `trap 'signalled=1; kill -USR1 "$!" 2>/dev/null' USR1`,
    `trap 'signalled=1; kill -TERM "$!" 2>/dev/null' TERM`,
    `${[...container(job), 'sh'].join(' ')} "$pool/task"${job.gpu === 'none' ? ' --processors' : ''} "$pool" &`,
    'while signalled=; wait "$!"; status=$?; [ -n "$signalled" ]; do :; done',
    '# The time has ended before the run: into the queue again.',
    // By the array's number and the task's: one task of each array has the array's own number for itself, which means all of them.
    `if [ "$status" -eq ${QUEUE_AGAIN} ]; then scontrol requeue "\${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" && sleep 60; fi`,
    'exit "$status"',
    '',
  ].join('\n');
}

/**
 * How many workers a script asks for, and whether on processors: also of one that was changed by hand, or is somebody's own.
 * Null where its array is not one of SLURM's forms, such as `0-7%2` or `1,3,10-20:5`.
 */
export function slurmTasks(script: string): { tasks: number; on_processors: boolean } | null {
  const array = /^#SBATCH\s+(?:--array[= ][ \t]*|-a[ \t]*)(\S+)/m.exec(script)?.[1] ?? '0';
  const tasks = array
    .replace(/%\d+$/, '')
    .split(',')
    .map((range) => /^(\d+)(?:-(\d+)(?::(\d+))?)?$/.exec(range))
    .map((range) =>
      range ? countOf(Number(range[1]), Number(range[2] ?? range[1]), Number(range[3] ?? 1)) : NaN,
    )
    .reduce((sum, count) => sum + count, 0);
  return isCount(tasks, MOST_TASKS)
    ? { tasks, on_processors: script.includes('"$pool/task" --processors') }
    : null;
}

const countOf = (first: number, last: number, step: number): number =>
  last >= first && step > 0 ? Math.floor((last - first) / step) + 1 : NaN;

/** Where a run with such a job computes; null where no script can be made. `login`: where SLURM's programs are, null for here. */
export function slurmPlace(
  job: SlurmJob,
  { login, bySelf }: { login: string | null; bySelf: boolean },
): Extract<PoolChoice, { kind: 'slurm' }> | null {
  const script = slurmScript(job);
  if (script === null) return null;
  return {
    kind: 'slurm',
    script: bySelf ? null : script,
    tasks: job.tasks,
    login: bySelf ? null : login,
    on_processors: job.gpu === 'none',
  };
}

function options(job: SlurmJob): string[] {
  const type = job.gpuType === '' ? '' : `${job.gpuType}:`;
  const throttle = job.mostAtOnce === null ? '' : `%${job.mostAtOnce}`;
  const set = (name: string, value: string | number | null): string[] =>
    value === null || value === '' ? [] : [`--${name}=${value}`];
  return [
    '--job-name=virnucpro',
    `--array=0-${job.tasks - 1}${throttle}`,
    '--nodes=1',
    '--ntasks=1',
    ...set('partition', job.partition),
    ...set('account', job.account),
    ...set('qos', job.qos),
    ...(job.gpu === 'gres' ? [`--gres=gpu:${type}1`] : []),
    ...(job.gpu === 'gpus' ? [`--gpus=${type}1`] : []),
    ...set('cpus-per-task', job.cpus),
    ...set('mem', job.memory),
    ...set('time', job.time),
    `--signal=B:USR1@${TOLD_BEFORE_END_S}`,
    '--requeue',
    '--open-mode=append',
  ];
}

/** `--nv` brings the node's NVIDIA driver into the container. The run's folder, two above the pool's, has to be in it too. */
function container({ container: program, image, gpu }: SlurmJob): string[] {
  if (program === 'none') return [];
  return [
    program,
    'exec',
    ...(gpu === 'none' ? [] : ['--nv']),
    '--bind',
    '"$pool/../.."',
    quotedForShell(image.trim()),
  ];
}

function isCount(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= most;
}
