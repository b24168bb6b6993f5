import { existsSync, readFileSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { z } from 'zod';
import { appFailure, unwrap } from '../contract/errors.ts';
import { parseJson } from '../contract/parseJson.ts';
import {
  engineBase,
  type EngineContext,
  networkVariables,
  readSetupSettings,
  resolveAppPaths,
  setUp,
  stepLines,
  isRunFolder,
  openRunStore,
  WarmWorkers,
} from '../engine/index.ts';
import type { CommonFlags } from './commonFlags.ts';
import { toStandardError } from './output/terminal.ts';

/**
 * Entry file of the store's threads, bundled beside this file: a thread that loaded this whole file would
 * take 18 MB more.
 */
const isSource = import.meta.url.endsWith('.ts');
export const stores = {
  host: new URL(isSource ? '../engine/store/hostEntry.ts' : './storeHost.mjs', import.meta.url),
};

/** The folders of this program, and the settings that are needed before anything else. */
export function programHere() {
  const paths = unwrap(resolveAppPaths({ startFolder: import.meta.dirname }));
  return { paths, settings: readSetupSettings(paths.usualDataDir) };
}

/** Sets this computer up, as far as it is not, and says so unless it should be quiet. */
export function setUpHere(
  { paths, settings }: ReturnType<typeof programHere>,
  { python, quiet }: Pick<CommonFlags, 'python' | 'quiet'>,
  more: Partial<Parameters<typeof setUp>[0]> = {},
): ReturnType<typeof setUp> {
  return setUp({
    paths,
    interpreter: python ?? (process.env['VIRNUCPRO_PYTHON'] || settings.interpreter) ?? undefined,
    env: networkVariables(settings),
    ...(quiet === true ? {} : { onProgress: stepLines(toStandardError) }),
    ...more,
  });
}

/** Prepares the engine in this process: its folders and its Python environment. */
export async function openEngine(flags: Pick<CommonFlags, 'python' | 'quiet'>): Promise<EngineContext> {
  const program = programHere();
  const { environment } = unwrap(await setUpHere(program, flags));
  return { ...baseHere(program.paths), environment, warmWorkers: new WarmWorkers(0) };
}

/** What an engine in this process has before its Python environment is known. */
export const baseHere = (paths: ReturnType<typeof programHere>['paths']) =>
  engineBase({ appVersion: appVersion(paths.root), paths, storeHost: stores.host });

declare const APP_VERSION: string | undefined;

/** The bundle has the version built in; when run from source it is read from package.json. */
export function appVersion(root: string): string {
  if (typeof APP_VERSION === 'string') return APP_VERSION;
  const file = join(root, 'package.json');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  return parseJson(z.object({ version: z.string() }), text)?.version ?? 'unknown';
}

/** A run is named by its folder, or by a file in it such as run.json. */
export const runFolderOf = (run: string): string | undefined => [run, dirname(run)].find(isRunFolder);

/** Opens a run for reading, also while another program works on it, and closes it again. Needs no Python. */
export async function withRun<Answer>(
  run: string,
  work: (store: Awaited<ReturnType<typeof openRunStore>>) => Promise<Answer>,
): Promise<Answer> {
  const folder = runFolderOf(run);
  if (folder === undefined) throw appFailure('folder_not_a_run', `${run} holds no run.db.`);
  const store = await openRunStore(folder, { hostEntry: stores.host, readOnly: true });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
