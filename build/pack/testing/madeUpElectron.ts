import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';

const root = join(import.meta.dirname, '..', '..', '..');
/** The place of the fuses in Electron's program, in the state in which Electron is delivered. */
const FUSE_WIRE = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX\u0001\u000810110001';

const MAC_APP = 'Electron.app/Contents';
const MAC_HELPERS = [
  'Electron Helper',
  'Electron Helper (Renderer)',
  'Electron Helper (GPU)',
  'Electron Helper (Plugin)',
];

/** What macOS reads about a program before it starts it. */
const plist = (program: string) => `<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict><key>CFBundleExecutable</key><string>${program}</string></dict></plist>
`;

const macBundle = (folder: string, program: string): Record<string, string> => ({
  [`${folder}/Info.plist`]: plist(program),
  [`${folder}/MacOS/${program}`]: '',
});

/** The files of Electron that packing requires; the program itself only exits with 1. */
const FILES: Readonly<Record<PackedSystem, Readonly<Record<string, string>>>> = {
  linux: {
    electron: `#!/bin/sh\nexit 1\n${FUSE_WIRE}`,
    'chrome-sandbox': '',
    ...Object.fromEntries(['de', 'en-US', 'fr'].map((name) => [`locales/${name}.pak`, ''])),
  },
  mac: {
    ...macBundle(MAC_APP, 'Electron'),
    [`${MAC_APP}/Frameworks/Electron Framework.framework/Electron Framework`]: FUSE_WIRE,
    [`${MAC_APP}/Resources/en.lproj/locale.pak`]: '',
    [`${MAC_APP}/Frameworks/Electron Framework.framework/Versions/A/Resources/en.lproj/locale.pak`]: '',
    ...Object.fromEntries(
      MAC_HELPERS.flatMap((name) =>
        Object.entries(macBundle(`${MAC_APP}/Frameworks/${name}.app/Contents`, name)),
      ),
    ),
  },
};
type PackedSystem = 'linux' | 'mac';
const OF_ALL = ['version', 'LICENSE', 'LICENSES.chromium.html'];

/** Packs into `folder` around a made-up Electron, a folder (`dir`) with all that `npm run pack` puts into it. */
export async function packAround(
  folder: string,
  system: PackedSystem,
  target: 'dir' | 'tar.gz' | 'zip',
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  const electron = join(folder, 'electron');
  await mkdir(join(electron, 'resources'), { recursive: true });
  for (const [name, content] of Object.entries(FILES[system])) {
    await mkdir(dirname(join(electron, name)), { recursive: true });
    await writeFile(join(electron, name), content);
    await chmod(join(electron, name), 0o755);
  }
  for (const name of OF_ALL) await writeFile(join(electron, name), '');
  const builder = [
    join(root, 'node_modules', 'electron-builder', 'cli.js'),
    ...['--config', join(root, 'build', 'electron-builder.yml'), '--publish', 'never'],
    ...[`--${system}`, target, system === 'mac' ? '--arm64' : '--x64'],
    // Signing needs Apple's programs.
    ...(system === 'mac' ? ['-c.electronFuses.resetAdHocDarwinSignature=false'] : []),
  ];
  const whole = [join(root, 'build', 'pack', 'pack.ts'), '--dir'];
  const places = [`-c.electronDist=${electron}`, `-c.directories.output=${folder}`];
  await execa(process.execPath, [...(target === 'dir' ? whole : builder), ...places], { cwd: root, env });
}
