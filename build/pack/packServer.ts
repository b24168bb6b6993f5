/**
 * `npm run pack:server [-- linux-arm64]`: packs the command line and the window for browsers as one npm
 * package, out/virnucpro-VERSION-KIND.tgz, for servers without this repository: there `npm install --global
 * FILE` puts `virnucpro` into the PATH. It needs no registry: the file contains everything, including the
 * SQLite and DuckDB binaries for that kind of computer. For linux-x64 there is a second package that also
 * contains Node, ...-node.tgz, which the desktop app installs on other computers over SSH.
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
import { basename, dirname, join } from 'node:path';
import { execa } from 'execa';
import { SERVER_PACKAGE_ENDING } from '../../electron/engine/computers/remoteServer.ts';
import { bundleCommandLine } from '../bundleCommandLine.ts';
import { buildWindow } from '../buildWindow.ts';
import { fetchDuckDb } from './fetchDuckDb.ts';
import { fetchNode, NODE_TARGET } from './fetchNode.ts';
import { fetchUv } from './fetchUv.ts';
import { packBeside } from './npmPackage.ts';

const root = join(import.meta.dirname, '..', '..');
/** The bundle is compiled for this version; the desktop program contains a newer one. */
export const OLDEST_NODE = '22.15';

/** The same files as in electron-builder.yml for the desktop program. */
const FILES = [
  'python-backend/src/**/*.py',
  'python-backend/pyproject.toml',
  'python-backend/requirements.txt',
  'python-backend/requirements.lock',
  'python-backend/requirements-ray.txt',
  'python-backend/requirements-ray.lock',
  'python-backend/download-sizes.json',
  'resources/**/*',
  'dist/renderer/**/*',
  'LICENSE',
  'THIRD_PARTY_NOTICES.txt',
];

interface Parts {
  /** Folder with uv and its licences. */
  uv: string | null;
  /** Folder with Node's program and its licence; if given, a second package with Node inside is made. */
  node?: string;
}

/**
 * Lays out the program for a kind of computer (`linux-x64`) as a folder, to be run by a separate Node and
 * Python: the bundled command line, the window, the Python side and the resources. Replaces the folder.
 */
export async function layOutProgram(target: string, folder: string): Promise<void> {
  await bundleCommandLine(folder, target, OLDEST_NODE);
  for (const name of globSync(FILES, { cwd: root })) {
    if (statSync(join(root, name)).isDirectory()) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(join(root, name), join(folder, name));
  }
}

/** Makes the package for a kind of computer (`linux-x64`) from the finished builds; returns its file. */
export async function packServer(target: string, outFolder: string, { uv, node }: Parts): Promise<string> {
  const { version, description, license } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  ) as Record<string, string>;
  const folder = join(outFolder, `server-${target}`);
  await layOutProgram(target, folder);
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
  if (node !== undefined) await packWithNode(folder, node, file);
  rmSync(folder, { recursive: true });
  return file;
}

/**
 * Makes the same package with Node inside, so that the other computer needs only tar.
 */
async function packWithNode(folder: string, node: string, file: string): Promise<void> {
  cpSync(join(node, 'node'), join(folder, 'node'));
  cpSync(join(node, 'LICENSE'), join(folder, 'LICENSE-node'));
  const parent = join(dirname(folder), `${basename(folder)}-node`);
  rmSync(parent, { recursive: true, force: true });
  mkdirSync(parent);
  renameSync(folder, join(parent, 'package'));
  const withNode = file.replace(/\.tgz$/, SERVER_PACKAGE_ENDING);
  const archive = join(parent, basename(withNode));
  await packBeside(archive, 'package');
  renameSync(archive, withNode);
  renameSync(join(parent, 'package'), folder);
  rmSync(parent, { recursive: true });
}

if (import.meta.main) {
  const target = process.argv[2] ?? `${process.platform}-${process.arch}`;
  await buildWindow();
  await fetchDuckDb(target);
  const uv = await fetchUv(target);
  const node = target === NODE_TARGET ? { node: await fetchNode() } : {};
  const file = await packServer(target, join(root, 'out'), { uv, ...node });
  process.stdout.write(`${file}\n`);
}
