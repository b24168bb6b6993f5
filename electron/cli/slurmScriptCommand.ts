import { Option, type Command } from 'commander';
import { appError, AppFailure } from '../contract/errors.ts';
import {
  shortTime,
  SLURM_JOB_DEFAULTS,
  slurmJobProblems,
  slurmScript,
  type SlurmJob,
} from '../contract/terminal/slurmScript.ts';
import { message } from '../contract/messages.ts';
import { toStandardError } from './output/terminal.ts';
import { positiveInteger } from './commonFlags.ts';

export interface SlurmScriptFlags extends Partial<Omit<SlurmJob, 'gpu' | 'gpuType' | 'container'>> {
  /** A type of GPU, `any` or `none`. */
  gpu: string;
  gpuOption: 'gres' | 'gpus';
  container: SlurmJob['container'];
}

export function slurmScriptCommand(root: Command): Command {
  const { cpus, gpusPerTask, memory, time, tasks } = SLURM_JOB_DEFAULTS;
  return root
    .command('slurm-script')
    .description(
      'Print a batch script for predict --slurm, or for sbatch: an array with a task for each share of a run',
    )
    .option('--partition <name>', 'partition, or several separated by commas')
    .option('--account <name>', 'account that pays')
    .option('--qos <name>', 'quality of service')
    .option('--gpu <kind>', 'kind of GPU, such as a100; any, or none to compute on processors', 'any')
    .addOption(
      new Option('--gpu-option <name>', 'how this cluster wants GPUs to be asked for')
        .choices(['gres', 'gpus'])
        .default('gres'),
    )
    .option('--cpus <n>', 'processors of a task', positiveInteger, cpus ?? 1)
    .option('--memory <size>', 'memory of a task', memory)
    .option('--time <limit>', 'time of a task; when it ends, the task queues again and the run goes on', time)
    .option('--gpus-per-task <n>', 'GPUs of a task, such as all of a node', positiveInteger, gpusPerTask)
    .option('--tasks <n>', 'tasks: shares of the run', positiveInteger, tasks)
    .option('--most-at-once <n>', 'tasks that may run at the same time (default: all)', positiveInteger)
    .option('--modules <names>', 'modules to load, separated by spaces')
    .addOption(
      new Option('--container <program>', 'compute in a container')
        .choices(['none', 'apptainer', 'singularity'])
        .default('none'),
    )
    .option('--image <file>', 'with --container: its image')
    .option('--program <path>', 'command line of the nodes or the container, where it is another than here')
    .option('--extra <lines>', 'lines of your own: #SBATCH options, and commands before the program');
}

const FLAGS: Readonly<Partial<Record<keyof SlurmJob, string>>> = {
  gpuType: 'gpu',
  gpusPerTask: 'gpus-per-task',
  mostAtOnce: 'most-at-once',
};

/** Throws AppFailure for a setting from which no script can be made. */
export function printedScript({ gpu, gpuOption, ...flags }: SlurmScriptFlags): string {
  const job: SlurmJob = {
    ...SLURM_JOB_DEFAULTS,
    ...flags,
    gpu: gpu === 'none' ? 'none' : gpuOption,
    gpuType: gpu === 'none' || gpu === 'any' ? '' : gpu,
  };
  const script = slurmScript(job);
  const short = shortTime(job.time);
  if (short !== null) toStandardError(message('note.short_time', { minutes: short }).text);
  if (script !== null) return script;
  const wrong = slurmJobProblems(job).map((field) => `--${FLAGS[field] ?? field}`);
  throw new AppFailure(
    appError('usage', `No script can be made with what was given for ${wrong.join(', ')}.`),
  );
}
