import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { windowsProgram } from './windowsProgram.mjs';

const root = join(import.meta.dirname, '..', '..', '..');
/** Where Electron's program holds its fuses, and as they are when it is delivered. */
const FUSE_WIRE = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX\u0001\u000810110001';

/** Of Electron's own files, those that packing looks for; the program itself only ends with 1. */
const FILES: Readonly<Record<'linux' | 'win', Readonly<Record<string, string | Buffer>>>> = {
  linux: { electron: `#!/bin/sh\nexit 1\n${FUSE_WIRE}`, 'chrome-sandbox': '' },
  win: { 'electron.exe': Buffer.concat([windowsProgram(), Buffer.from(FUSE_WIRE)]) },
};
const OF_ALL = ['version', 'LICENSE', 'LICENSES.chromium.html'];

/** Packs into `folder` with electron-builder, around a made-up Electron. */
export async function packAround(
  folder: string,
  system: 'linux' | 'win',
  targets: readonly string[],
  { options = [], env = {} }: { options?: readonly string[]; env?: NodeJS.ProcessEnv } = {},
): Promise<void> {
  const electron = join(folder, 'electron');
  await mkdir(join(electron, 'resources'), { recursive: true });
  for (const [name, content] of Object.entries(FILES[system])) {
    await writeFile(join(electron, name), content);
    await chmod(join(electron, name), 0o755);
  }
  for (const name of OF_ALL) await writeFile(join(electron, name), '');
  await execa(
    process.execPath,
    [
      join(root, 'node_modules', 'electron-builder', 'cli.js'),
      ...['--config', join(root, 'build', 'electron-builder.yml'), `--${system}`, ...targets, '--x64'],
      ...['--publish', 'never'],
      `-c.electronDist=${electron}`,
      `-c.directories.output=${folder}`,
      ...options,
    ],
    { cwd: root, env },
  );
}
