import { chunkLengthsText, type Plan } from '../plan.ts';
import type { RunRequest } from '../rpc/runs.ts';

/** The choices that decide a run's results, and the folder of its results. */
export interface RepeatableRun {
  plan: Pick<
    Plan,
    | 'chunkLength'
    | 'secondLook'
    | 'precision'
    | 'tokensPerBatch'
    | 'residuesPerPart'
    | 'order'
    | 'embedEqualSequencesOnce'
    | 'embeddings'
    | 'repairs'
    | 'minLength'
    | 'geneticCode'
  > & {
    inputs: readonly { path: string }[];
    model: Pick<Plan['model'], 'name' | 'folder' | 'notice'>;
  };
  request: Pick<
    RunRequest,
    'where' | 'devices' | 'keepWork' | 'tables' | 'model' | 'gpuMemoryBytes' | 'patience' | 'reuseEmbeddings'
  >;
  folder: string;
}

/**
 * The command that repeats a run in a folder beside it, with every choice that decides its results written
 * out.
 */
export function predictCommand({ plan, request, folder }: RepeatableRun): string {
  const words = [
    'virnucpro',
    request.where.kind === 'shares' ? 'prepare' : 'predict',
    ...plan.inputs.map(({ path }) => path),
    '--output-dir',
    `${folder.replace(/[\\/]+$/, '')}_again`,
    '--model',
    // The window fills in the teaching model if none was chosen.
    plan.model.name === 'teaching' ? 'teaching' : request.model,
    '--chunk-length',
    chunkLengthsText(plan),
    '--precision',
    plan.precision,
    '--tokens-per-batch',
    String(plan.tokensPerBatch),
    '--residues-per-part',
    String(plan.residuesPerPart),
    '--order',
    plan.order,
    ...(plan.embedEqualSequencesOnce ? [] : ['--no-embed-equal-sequences-once']),
    ...(plan.repairs ?? []).flatMap((repair) => ['--repair', repair]),
    ...(plan.minLength === undefined ? [] : ['--min-length', String(plan.minLength)]),
    ...(plan.geneticCode === undefined ? [] : ['--genetic-code', String(plan.geneticCode)]),
    ...(plan.embeddings === null ? [] : ['--embeddings', plan.embeddings]),
    ...(request.reuseEmbeddings === undefined ? [] : ['--reuse-embeddings', request.reuseEmbeddings]),
    ...whereFlags(request),
    ...(request.gpuMemoryBytes === undefined ? [] : ['--gpu-memory', String(request.gpuMemoryBytes / 1e9)]),
    ...(request.patience === undefined ? [] : ['--patience', String(request.patience)]),
    ...(request.keepWork ? ['--keep-work'] : []),
    ...(request.tables === undefined ? [] : ['--tables', request.tables]),
  ];
  return `${words.map(quotedForShell).join(' ')}${batchScript(request)}`;
}

function whereFlags({ where, devices }: RepeatableRun['request']): string[] {
  if (where.kind === 'this_computer') return devices === 'auto' ? [] : ['--devices', devices];
  if (where.kind === 'shares') return where.on_processors ? ['--processors'] : [];
  if (where.kind === 'slurm') return ['--slurm', '/dev/stdin'];
  return [
    ...['--ray', where.address, '--shares', String(where.shares)],
    ...(where.cpus === 0 ? [] : ['--cpus', String(where.cpus)]),
  ];
}

/** The batch script that follows the command as its standard input. */
function batchScript({ where }: RepeatableRun['request']): string {
  if (where.kind !== 'slurm') return '';
  const lines = where.script.replace(/\n$/, '').split('\n');
  let end = 'END_OF_SCRIPT';
  while (lines.includes(end)) end += '_';
  return ` <<'${end}'\n${lines.join('\n')}\n${end}`;
}

/** Quotes a word for a POSIX shell; most words need no quotes. */
export function quotedForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
