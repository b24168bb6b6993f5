/**
 * `npm run pack [-- options of electron-builder]`: writes installers for this kind of computer to out/.
 */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { KIND_HERE } from '../../electron/engine/system/here.ts';
import { buildWheel } from '../../packaging/pip/buildWheel.ts';
import { buildDesktop } from '../buildDesktop.ts';
import { buildWindow } from '../buildWindow.ts';
import { electronSource, isReachable } from '../electronBinary.ts';
import { fetchDuckDb } from './fetchDuckDb.ts';
import { fetchUv } from './fetchUv.ts';

const root = join(import.meta.dirname, '..', '..');
const NETWORK = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|fetch failed/i;

const source = electronSource();
// Files that were downloaded before need no network, so packing is tried all the same.
if (!(await isReachable(source))) process.stderr.write(`${unreachableWords(source)}\n`);
// Refuses a kind of computer without native parts.
const uv = await fetchUv();
await buildWindow();
const server = join(root, 'dist', 'server');
rmSync(server, { recursive: true, force: true });
await fetchDuckDb('linux-x64');
await buildWheel('linux-x64', server);
await fetchDuckDb(KIND_HERE);
await buildDesktop(KIND_HERE);
// electron-builder.yml includes this folder.
const packed = join(root, 'dist', 'uv', 'packed');
rmSync(packed, { recursive: true, force: true });
cpSync(uv, packed, { recursive: true });
const result = await execa(
  process.execPath,
  [
    join(root, 'node_modules', 'electron-builder', 'cli.js'),
    ...['--config', join(root, 'build', 'electron-builder.yml'), `--${process.arch}`, '--publish', 'never'],
    ...(process.platform === 'darwin' ? macSigning(process.env) : []),
    ...process.argv.slice(2),
  ],
  { cwd: root, stdout: ['inherit', 'pipe'], stderr: ['inherit', 'pipe'], all: true, reject: false },
);
if (result.failed && NETWORK.test(result.all)) process.stderr.write(`\n${unreachableWords(source)}\n`);
process.exitCode = result.exitCode ?? 1;

/**
 * How macOS packages are signed. With a certificate and Apple's secrets they are signed and notarised.
 * Without these they are signed ad hoc, which Apple's processors require, and not hardened, since a hardened
 * program refuses parts that are not signed by a team.
 */
function macSigning(env: NodeJS.ProcessEnv): string[] {
  const hasCertificate = ['CSC_LINK', 'CSC_NAME'].some((name) => Boolean(env[name]));
  if (!hasCertificate) return ['-c.mac.identity=-', '-c.mac.hardenedRuntime=false', '-c.mac.notarize=false'];
  const canNotarize = ['APPLE_API_KEY', 'APPLE_ID', 'APPLE_KEYCHAIN'].some((name) => Boolean(env[name]));
  return ['-c.electronFuses.resetAdHocDarwinSignature=false', `-c.mac.notarize=${canNotarize}`];
}

/**
 * Explains why packing will fail; otherwise it would fail after minutes with a library's stack trace that
 * only names a host.
 */
function unreachableWords(source: string): string {
  return (
    `${new URL(source).host} cannot be reached. Packing fetches Electron's program from there, and the tools that make installers from ` +
    'github.com, unless they have been fetched before.\n' +
    '  What to do: set ELECTRON_MIRROR and ELECTRON_BUILDER_BINARIES_MIRROR to mirrors of the two, or name a folder with an unpacked ' +
    "Electron of package.json's version:\n  npm run pack -- --dir -c.electronDist=FOLDER"
  );
}
