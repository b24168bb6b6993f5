/**
 * `npm run pack [-- --win --arm64 and options of electron-builder]`: writes installers to out/, for this kind
 * of computer unless others are named.
 */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { buildWheel } from '../../packaging/pip/buildWheel.ts';
import { buildDesktop } from '../buildDesktop.ts';
import { buildWindow } from '../buildWindow.ts';
import { electronSource, isReachable } from '../electronBinary.ts';
import { fetchDuckDb } from './fetchDuckDb.ts';
import { fetchUv } from './fetchUv.ts';
import { BUILDER_FLAGS, macSigning, packRequest, unreachableWords, type PackTarget } from './packTargets.ts';

const root = join(import.meta.dirname, '..', '..');
const NETWORK = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|fetch failed/i;

const source = electronSource();
const request = packRequest(process.argv.slice(2));
if (request.ok) {
  // Files that were downloaded before need no network, so packing is tried all the same.
  if (!(await isReachable(source))) process.stderr.write(`${unreachableWords(source)}\n`);
  await buildWindow();
  const server = join(root, 'dist', 'server');
  rmSync(server, { recursive: true, force: true });
  await fetchDuckDb('linux-x64');
  await buildWheel('linux-x64', server);
  for (const target of request.targets) {
    if (process.exitCode) break;
    process.exitCode = await pack(target, request.passedOn);
  }
} else {
  process.stderr.write(`${request.reason}\n`);
  process.exitCode = 1;
}

async function pack({ platform, arch }: PackTarget, options: readonly string[]): Promise<number> {
  await fetchDuckDb(`${platform}-${arch}`);
  await buildDesktop(`${platform}-${arch}`);
  // electron-builder.yml includes this folder.
  const packed = join(root, 'dist', 'uv', 'packed');
  rmSync(packed, { recursive: true, force: true });
  cpSync(await fetchUv(`${platform}-${arch}`), packed, { recursive: true });
  const result = await execa(
    process.execPath,
    [
      join(root, 'node_modules', 'electron-builder', 'cli.js'),
      '--config',
      join(root, 'build', 'electron-builder.yml'),
      BUILDER_FLAGS[platform],
      `--${arch}`,
      ...['--publish', 'never'],
      ...(platform === 'darwin' ? macSigning(process.env) : []),
      ...options,
    ],
    { cwd: root, stdout: ['inherit', 'pipe'], stderr: ['inherit', 'pipe'], all: true, reject: false },
  );
  if (result.failed && NETWORK.test(result.all)) process.stderr.write(`\n${unreachableWords(source)}\n`);
  return result.exitCode ?? 1;
}
