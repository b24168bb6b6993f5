import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { memorySettingLine } from '../electron/cli/memorySetting.ts';
import { nodeBundle, STORE_HOST } from './nodeBundle.ts';

const root = join(import.meta.dirname, '..');
/** The version of Node in a checkout. */
const OWN_NODE = '24.0';

/**
 * Bundles the command line as `virnucpro.mjs` with its only module, the entry of the store's threads, and the
 * SQLite binary of the target; replaces the folder. `oldestNode` is a version of Node other than ours that
 * must be able to run it.
 */
export async function bundleCommandLine(
  outFolder: string,
  target: string,
  oldestNode = OWN_NODE,
): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  rmSync(outFolder, { recursive: true, force: true });
  await build({
    ...nodeBundle(target),
    target: `node${oldestNode}`,
    absWorkingDir: root,
    entryPoints: { commandLine: join(root, 'electron', 'cli', 'main.ts'), storeHost: STORE_HOST },
    outdir: outFolder,
    define: { APP_VERSION: JSON.stringify(version) },
  });
  writeFileSync(join(outFolder, 'virnucpro.mjs'), starter(oldestNode), { mode: 0o755 });
}

/**
 * An older Node could not even load the program, so this checks the version first, in syntax that every Node
 * can parse.
 */
function starter(oldestNode: string): string {
  const [major = '', minor = ''] = oldestNode.split('.');
  return `#!/usr/bin/env -S ${memorySettingLine()}
const [major, minor] = process.versions.node.split('.').map(Number);
if (major > ${major} || (major === ${major} && minor >= ${minor})) {
  await import('./commandLine.mjs');
} else {
  process.stderr.write(
    'virnucpro needs Node.js ${oldestNode} or newer, and this is ' + process.versions.node + ' (' + process.execPath + ').\\n' +
      '  What to do: install a newer one from https://nodejs.org, or put its folder first in the PATH.\\n',
  );
  process.exitCode = 1;
}
`;
}
