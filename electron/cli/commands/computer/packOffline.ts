import { packOfflineSchema } from '../../../contract/rpc/computer.ts';
import { unwrap } from '../../../contract/errors.ts';
import {
  formatBytes,
  listModels,
  networkVariables,
  packableGpus,
  packOffline,
  stepLines,
} from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { appVersion, programHere } from '../../openEngine.ts';
import { toStandardError, toStandardOutput } from '../../output/terminal.ts';
import { parsed, type CommonFlags } from '../../commonFlags.ts';

interface PackOfflineFlags extends CommonFlags {
  gpu?: string;
  models?: string;
}

/** Packs what another computer needs for a set-up without a network; by default for GPUs as here, with all weights. */
export async function packForOffline(folder: string, flags: PackOfflineFlags): Promise<number> {
  const { paths, settings } = programHere();
  const env = networkVariables(settings);
  const [own] = await packableGpus(paths, env);
  const there = (await listModels(paths)).filter(({ id, present }) => present && id !== 'teaching');
  const { models = 'all' } = flags;
  const choice = parsed(packOfflineSchema, {
    folder,
    gpu: flags.gpu?.replace('-', '_') ?? own?.gpu,
    models:
      models === 'all'
        ? there.map(({ id }) => id)
        : models === 'none'
          ? []
          : models.split(',').map((name) => name.trim()),
  });
  const packed = unwrap(
    await packOffline({
      ...{ ...choice, paths, env, appVersion: appVersion(paths.root) },
      ...(flags.quiet === true ? {} : { onProgress: stepLines(toStandardError) }),
    }),
  );
  const { manifest, bytes } = packed;
  if (flags.json === true) {
    toStandardOutput(JSON.stringify({ folder: packed.folder, bytes, ...manifest }));
    return EXIT.done;
  }
  const { version, packed: isPacked } = manifest.python;
  const python = isPacked ? `Python ${version}` : `no Python (the other computer needs Python ${version})`;
  const weights = manifest.models.map(({ title }) => title).join(', ') || 'no weights';
  toStandardOutput(
    `${packed.folder}: ${formatBytes(bytes)} in ${manifest.files.length} files for ${manifest.platform}, ` +
      `PyTorch ${manifest.torchBuild}, ${python}, ${weights}.\n` +
      'On the other computer: virnucpro setup --from FOLDER, or drop the folder on the window.',
  );
  return EXIT.done;
}
