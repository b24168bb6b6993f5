import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { memorySettingLine } from '../electron/cli/memorySetting.ts';
import { nodeBundle, STORE_HOST } from './nodeBundle.ts';

const root = join(import.meta.dirname, '..');
/** The version of Node in a checkout, and the one that the wheel requires. */
const NODE = '24.0';

/** Node keeps what it has compiled with the user's other caches (`cache_folder` in Python): nobody else may change it there. */
const START = `import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
const { NODE_COMPILE_CACHE, VIRNUCPRO_CACHE, XDG_CACHE_HOME } = process.env;
const caches = XDG_CACHE_HOME || join(homedir(), '.cache');
enableCompileCache(NODE_COMPILE_CACHE || VIRNUCPRO_CACHE || join(caches, 'virnucpro'));
await import('./commandLine.mjs');
`;

/**
 * Bundles the command line as `virnucpro.mjs` with its only module, the entry of the store's threads, and the
 * SQLite binary of the target; replaces the folder. `stays`: it is used only in this checkout.
 */
export async function bundleCommandLine(outFolder: string, target: string, stays = false): Promise<Metafile> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  rmSync(outFolder, { recursive: true, force: true });
  const { metafile } = await build({
    ...nodeBundle(target, stays),
    metafile: true,
    target: `node${NODE}`,
    absWorkingDir: root,
    entryPoints: { commandLine: join(root, 'electron', 'cli', 'main.ts'), storeHost: STORE_HOST },
    outdir: outFolder,
    define: { APP_VERSION: JSON.stringify(version) },
  });
  const starter = `#!/usr/bin/env -S ${memorySettingLine()}\n${START}`;
  writeFileSync(join(outFolder, 'virnucpro.mjs'), starter, { mode: 0o755 });
  return metafile;
}
