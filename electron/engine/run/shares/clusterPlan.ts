import { appError, type AppError } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { computesOn, type ClusterChoice } from '../../../contract/cluster.ts';
import type { PythonEnvironment } from '../../environment/pythonLaunch.ts';

/**
 * Why tasks that get GPUs could not use them: they run the Python environment of this computer, and one that
 * was set up without a GPU has a PyTorch for processors. Nobody should learn that after hours in a queue.
 * Null if no problem is known.
 */
export function withoutGpus(
  cluster: ClusterChoice,
  { packages }: Pick<PythonEnvironment, 'packages'>,
  own = ownCommand(undefined),
): AppError | null {
  if (computesOn(cluster) === 'cpu' || !packages['torch']?.endsWith('+cpu')) return null;
  // Where the nodes have their own program, they have their own Python.
  if (own.length === 1 || (cluster.kind === 'slurm' && !cluster.script.includes(own.at(-1) ?? '')))
    return null;
  return appError('device_blocked', message('cluster.pytorch'));
}

/**
 * The words that start this very program on another computer, with the same settings and the same Python. Nodes
 * have no desktop for the app: they need a `virnucpro` of their own.
 */
export function ownCommand(interpreter: string | undefined): string[] {
  const [, script] = process.argv;
  if ('electron' in process.versions || script === undefined) return ['virnucpro'];
  const settings = Object.entries(process.env).filter(([name]) => name.startsWith('VIRNUCPRO_'));
  const python = interpreter === undefined ? [] : [['VIRNUCPRO_PYTHON', interpreter] as const];
  const variables = new Map([...settings, ...python]);
  return [
    'env',
    ...[...variables].map(([name, value]) => `${name}=${value}`),
    ...[process.execPath, ...process.execArgv, script],
  ];
}
