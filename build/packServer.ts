/**
 * `npm run pack:server [-- linux-arm64]`: the command line and the window for browsers as one npm package, out/virnucpro-VERSION-KIND.tgz,
 * for servers without this repository: `npm install --global FILE` there puts `virnucpro` into the PATH. It asks the registry for
 * nothing: all is in the file, the SQLite binary of that kind of computer included.
 */
import {
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { bundleCommandLine } from './bundleCommandLine.ts';
import { buildWindow } from './buildWindow.ts';
import { fetchUv } from './fetchUv.ts';

const root = join(import.meta.dirname, '..');
/** Its bundle is compiled for this one; the desktop program has a newer one inside. */
const OLDEST_NODE = '22.15';

/** As electron-builder.yml has them for the desktop program. */
const FILES = [
  'python-backend/src/**/*.py',
  'python-backend/pyproject.toml',
  'python-backend/requirements.txt',
  'python-backend/requirements.lock',
  'python-backend/download-sizes.json',
  'resources/**/*',
  'dist/renderer/**/*',
  'LICENSE',
  'THIRD_PARTY_NOTICES.txt',
];

/** Makes the package of a kind of computer (`linux-x64`) from what is built, with uv where its folder is given. */
export async function packServer(target: string, outFolder: string, uv: string | null): Promise<string> {
  const { version, description, license } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  ) as Record<string, string>;
  const folder = join(outFolder, `server-${target}`);
  rmSync(folder, { recursive: true, force: true });
  await bundleCommandLine(folder, target, `node${OLDEST_NODE}`);
  for (const name of globSync(FILES, { cwd: root })) {
    if (statSync(join(root, name)).isDirectory()) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(join(root, name), join(folder, name));
  }
  if (uv !== null) cpSync(uv, join(folder, 'uv'), { recursive: true });
  const [os = '', cpu = ''] = target.split('-');
  const manifest = {
    name: 'virnucpro',
    ...{ version, description, license },
    type: 'module',
    bin: { virnucpro: 'virnucpro.mjs' },
    engines: { node: `>=${OLDEST_NODE}` },
    os: [os],
    cpu: [cpu],
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await execa('npm', ['pack', '--silent', '--pack-destination', outFolder], { cwd: folder });
  const file = join(outFolder, `virnucpro-${version}-${target}.tgz`);
  renameSync(join(outFolder, `virnucpro-${version}.tgz`), file);
  rmSync(folder, { recursive: true });
  return file;
}

if (import.meta.main) {
  const target = process.argv[2] ?? `${process.platform}-${process.arch}`;
  await buildWindow();
  const file = await packServer(target, join(root, 'out'), await fetchUv(target));
  process.stdout.write(`${file}\n`);
}
