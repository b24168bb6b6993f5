import { packOfflineSchema } from '../../../contract/rpc/computer.ts';
import { unwrap } from '../../../contract/errors.ts';
import {
  type EngineContext,
  formatBytes,
  listModels,
  networkVariables,
  ownKind,
  packOffline,
  readSetupSettings,
  stepLines,
} from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { toStandardError, toStandardOutput } from '../../output/terminal.ts';
import { parsed, type CommonFlags } from '../../commonFlags.ts';

export interface PackOfflineFlags extends CommonFlags {
  platform?: string;
  gpu?: string;
  models?: string;
  systemPython?: string;
}

/**
 * Packs what another computer needs for a set-up without a network; by default for a computer like this one,
 * with all its weights.
 */
export async function packForOffline(
  context: EngineContext,
  folder: string,
  flags: PackOfflineFlags,
): Promise<number> {
  const { environment, paths, appVersion } = context;
  const env = networkVariables(readSetupSettings(paths.usualDataDir));
  const own = await ownKind(env);
  const platform = flags.platform ?? own.platform;
  const choice = parsed(packOfflineSchema, {
    folder,
    platform,
    gpu: flags.gpu?.replace('-', '_') ?? (platform === own.platform ? own.gpu : usualGpu(platform)),
    models: await chosenModels(context, flags.models),
    systemPython: flags.systemPython ?? null,
  });
  const packed = unwrap(
    await packOffline({
      ...choice,
      paths,
      environment,
      appVersion,
      env,
      ...(flags.quiet === true ? {} : { onProgress: stepLines(toStandardError) }),
    }),
  );
  const { manifest, bytes } = packed;
  if (flags.json === true) {
    toStandardOutput(JSON.stringify({ folder: packed.folder, bytes, ...manifest }));
    return EXIT.done;
  }
  const python = manifest.python.packed
    ? `Python ${manifest.python.version}`
    : `no Python (the other computer needs Python ${manifest.python.version})`;
  const weights =
    manifest.models.length > 0 ? manifest.models.map(({ title }) => title).join(', ') : 'no weights';
  toStandardOutput(
    `${packed.folder}: ${formatBytes(bytes)} in ${manifest.files.length} files for ${manifest.platform}, ` +
      `PyTorch ${manifest.torchBuild}, ${python}, ${weights}.\n` +
      'On the other computer: virnucpro setup --from FOLDER, or drop the folder on the window.',
  );
  return EXIT.done;
}

function usualGpu(platform: string | null): string {
  return platform?.startsWith('darwin') ? 'apple' : 'nvidia';
}

/** Accepts `all`, `none`, or names separated by commas. */
async function chosenModels({ paths }: EngineContext, named = 'all'): Promise<readonly string[]> {
  if (named === 'none') return [];
  if (named !== 'all') return named.split(',').map((name) => name.trim());
  const models = await listModels(paths);
  return models.filter(({ id, present }) => present && id !== 'teaching').map(({ id }) => id);
}
