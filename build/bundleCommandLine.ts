import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { memorySettingLine } from '../electron/cli/memorySetting.ts';
import { nodeBundle, REQUIRE_IN_A_MODULE, STORE_HOST } from './nodeBundle.ts';

const root = join(import.meta.dirname, '..');
/** The command line as one module, `virnucpro.mjs`, with the entry of the store's threads, `storeHost.mjs`, and the SQLite binary of the
 * target beside it; replaces the folder. `node`: a version of Node other than ours that has to do. */
export async function bundleCommandLine(outFolder: string, target: string, node?: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  rmSync(outFolder, { recursive: true, force: true });
  await build({
    ...nodeBundle(target),
    ...(node === undefined ? {} : { target: node }),
    absWorkingDir: root,
    entryPoints: { virnucpro: join(root, 'electron', 'cli', 'main.ts'), storeHost: STORE_HOST },
    outdir: outFolder,
    define: { APP_VERSION: JSON.stringify(version) },
    banner: { js: `#!/usr/bin/env -S ${memorySettingLine()}\n${REQUIRE_IN_A_MODULE}` },
  });
}
