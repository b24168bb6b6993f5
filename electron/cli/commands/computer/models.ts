import { unwrap, usage } from '../../../contract/errors.ts';
import type { ModelStatus } from '../../../contract/rpc/computer.ts';
import {
  type EngineContext,
  formatBytes,
  getModel,
  importModels,
  listModels,
  removeModel,
  resolveModel,
  verifyModel,
} from '../../../engine/index.ts';
import type { CommonFlags } from '../../commonFlags.ts';
import { EXIT } from '../../exitCodes.ts';
import { toLog, toStandardError, toStandardOutput } from '../../output/terminal.ts';

export interface ModelsFlags extends CommonFlags {
  name?: string;
  chunkLength?: number;
  mirror?: string;
}

export async function models(
  context: EngineContext,
  action: string,
  names: readonly string[],
  flags: ModelsFlags,
): Promise<number> {
  const { environment, paths } = context;
  const [model] = names;
  if (flags.json && action !== 'list')
    throw usage(`--json has no effect on "models ${action}".`, 'It lists the models: "models --json".');
  const say = flags.quiet === true ? toLog : toStandardError;
  const options = { onProgress: showProgress(say), onNote: say };
  switch (action) {
    case 'list': {
      const found = await listModels(paths);
      const lines = found.flatMap((status) => describe(status));
      toStandardOutput(flags.json ? JSON.stringify(found) : lines.join('\n'));
      return EXIT.done;
    }
    case 'get':
      unwrap(await getModel(environment, paths, named(model), { ...options, mirror: flags.mirror }));
      break;
    case 'import': {
      if (model === undefined) throw usage('Say which files or folders.', 'Name them after "import".');
      const folders = unwrap(
        await importModels(environment, paths, { paths: [...names], ...flags }, options),
      );
      const made = (await listModels(paths)).filter(({ folder }) => folders.includes(folder));
      for (const status of made) say(`Imported: ${describe(status).join(' ')}`);
      if (made.length === 0) say('The encoders are kept. Import a classifier, or get a model, to use them.');
      return EXIT.done;
    }
    case 'verify': {
      const resolved = unwrap(await resolveModel(named(model), paths));
      unwrap(await verifyModel(environment, resolved.planModel.folder, options));
      break;
    }
    case 'remove': {
      const { freedBytes, usedBy } = unwrap(await removeModel(named(model), paths));
      const shared = usedBy.length > 0 ? `; what it shares with ${usedBy.join(', ')} is kept` : '';
      say(`Model ${named(model)} is removed: ${formatBytes(freedBytes)} freed${shared}.`);
      return EXIT.done;
    }
    default:
      throw usage(`There is no "models ${action}".`, 'Use list, get, import, verify or remove.');
  }
  say(`Model ${named(model)} is complete.`);
  return EXIT.done;
}

function describe(status: ModelStatus): string[] {
  const { id, kind, title, notice, folder, sizeBytes, sharedWith } = status;
  const name = kind === 'imported' ? title : id;
  const shared = sharedWith.length > 0 ? `, shares encoders with ${sharedWith.join(', ')}` : '';
  const here = `${status.chunkLength} bp, ${formatBytes(sizeBytes ?? 0)} in ${folder}${shared}`;
  const state = status.problem?.cause ?? (status.present ? here : `not here, ${toFetch(status)}`);
  const described = `${kind === 'imported' ? 'imported' : title}${notice ? ` (${notice})` : ''}`;
  return [`${name.padEnd(6)} ${described}: ${state}`];
}

function toFetch({ downloadBytes, fetchedBytes }: ModelStatus): string {
  const size = `${formatBytes(downloadBytes ?? 0)} to download`;
  return fetchedBytes > 0 ? `${size}, of which ${formatBytes(fetchedBytes)} have come` : size;
}

function named(model: string | undefined): string {
  if (model !== undefined) return model;
  throw usage('Say which model.', 'Name it: teaching, 300, 500, the name of an imported one, or a path.');
}

/** Prints a line for each step and each tenth of it. */
function showProgress(
  say: (line: string) => void,
): (progress: { step: string; done: number; total: number | null }) => void {
  let shown = '';
  return ({ step, done, total }) => {
    const tenth = total ? ` ${Math.floor((done / total) * 10) * 10} % of ${formatBytes(total)}` : '';
    const line = `${step}${tenth}`;
    if (line === shown) return;
    shown = line;
    say(line);
  };
}
