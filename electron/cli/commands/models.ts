import { appError, AppFailure } from '../../contract/errors.ts';
import {
  type EngineContext,
  formatBytes,
  getModel,
  importModel,
  listModels,
  resolveModel,
  verifyModel,
} from '../../engine/index.ts';
import { EXIT } from '../exitCodes.ts';
import { unwrap } from '../../contract/result.ts';

export interface ModelsFlags {
  json?: boolean;
  esm2?: string;
  dnabertS?: string;
  tokenizer?: string;
  head?: string;
  chunkLength?: number;
}

export async function models(
  context: EngineContext,
  action: string,
  model: string | undefined,
  flags: ModelsFlags,
): Promise<number> {
  const { environment, paths } = context;
  switch (action) {
    case 'list': {
      const found = unwrap(await listModels(environment, paths));
      const lines = found.map((status) => {
        const size =
          status.downloadBytes === null ? '' : `, ${formatBytes(status.downloadBytes)} to download`;
        const state = status.present ? 'present' : (status.problem?.cause ?? `not here${size}`);
        const notice = status.notice ? ` (${status.notice})` : '';
        return `${status.id.padEnd(6)} ${status.title}${notice}: ${state}`;
      });
      process.stdout.write(flags.json ? `${JSON.stringify(found)}\n` : `${lines.join('\n')}\n`);
      return EXIT.done;
    }
    case 'get':
      unwrap(await getModel(environment, paths, named(model), { onProgress: showProgress }));
      break;
    case 'import':
      unwrap(
        await importModel(
          environment,
          paths,
          { name: named(model), chunkLength: flags.chunkLength ?? 500, files: filesOf(flags) },
          { onProgress: showProgress },
        ),
      );
      break;
    case 'verify': {
      const resolved = unwrap(await resolveModel(named(model), paths));
      unwrap(await verifyModel(environment, resolved.planModel.folder));
      break;
    }
    default:
      throw new AppFailure(
        appError('usage', `There is no "models ${action}".`, {
          nextStep: 'Use list, get, import or verify.',
        }),
      );
  }
  process.stderr.write(`Model ${named(model)} is complete.\n`);
  return EXIT.done;
}

function named(model: string | undefined): string {
  if (model !== undefined) return model;
  throw new AppFailure(
    appError('usage', 'Say which model.', { nextStep: 'Name it: demo, 300, 500 or a path.' }),
  );
}

function filesOf(flags: ModelsFlags): { esm2: string; dnabert_s: string; tokenizer: string; head: string } {
  const { esm2, dnabertS, tokenizer, head } = flags;
  if (esm2 && dnabertS && tokenizer && head) return { esm2, dnabert_s: dnabertS, tokenizer, head };
  throw new AppFailure(
    appError('usage', 'A model is made of four files.', {
      nextStep: 'Give --esm2, --dnabert-s, --tokenizer and --head.',
    }),
  );
}

let shown = '';

/** A line per step and tenth of it. */
function showProgress({ step, done, total }: { step: string; done: number; total: number | null }): void {
  const tenth = total ? ` ${Math.floor((done / total) * 10) * 10} %` : '';
  const line = `${step}${tenth}`;
  if (line === shown) return;
  shown = line;
  process.stderr.write(`${line}\n`);
}
