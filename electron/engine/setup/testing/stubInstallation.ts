/**
 * A small but real installation: a real Python and a real uv install packages of a few bytes, which have the
 * names of the large ones, from a package index on this computer.
 */
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ok, unwrap } from '../../../contract/errors.ts';
import { resolveAppPaths, type AppPaths } from '../../environment/appPaths.ts';
import { checkEnvironment } from '../../environment/checkEnvironment.ts';
import { installedProgram } from '../../environment/testing/fakePython.ts';
import { fetchOwnUv, findUv } from '../../environment/install/uv.ts';
import { type Machine } from '../../environment/machine.ts';
import { scrubbedEnvironment, type PythonEnvironment } from '../../environment/pythonLaunch.ts';
import { hashFile } from '../../system/hashFile.ts';
import { runCommand } from '../../environment/runCommand.ts';

export interface StubInstallation {
  readonly paths: AppPaths;
  /** The computer that it is on, with a GPU for which the ordinary PyTorch is the right one. */
  readonly machine: Machine;
  /** Directs installers to the index on this computer, and nowhere else. */
  readonly env: NodeJS.ProcessEnv;
  readonly python: string;
  readonly address: string;
  /** Additional files that the server offers, by name. */
  readonly extra: Map<string, Buffer>;
  /** Stops the server, so that nothing can be downloaded any more. */
  readonly disconnect: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** If the installation can't be made here, returns the reason as a text, with which a test is skipped. */
export async function stubInstallation(): Promise<StubInstallation | string> {
  const real = unwrap(resolveAppPaths());
  const host = unwrap(await checkEnvironment({ paths: real }, false));
  const found = findUv(real);
  const fetched =
    found === undefined ? await fetchOwnUv(real, { run: runCommand, env: process.env }) : ok(found);
  if (!fetched.ok) return `uv could not be fetched: ${fetched.error.cause}`;
  const uv = fetched.value;

  const root = await mkdtemp(join(tmpdir(), 'Données β '));
  const lock = await stubWheels(host, join(root, 'wheels'), real.pythonSource);
  const paths: AppPaths = {
    ...installedProgram(root, { 'requirements.lock': lock, 'requirements.txt': 'torch==1.0\n' }),
    pythonSource: real.pythonSource,
    resources: real.resources,
  };
  await copyFile(uv, join(root, 'uv', basename(uv)));

  const extra = new Map<string, Buffer>();
  const server = await serve(join(root, 'wheels'), extra);
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const disconnect = (): Promise<void> =>
    new Promise((done) => {
      server.closeAllConnections();
      server.close(() => {
        done();
      });
    });
  return {
    paths,
    python: host.pythonVersion.split('.').slice(0, 2).join('.'),
    machine: {
      platform: process.platform,
      arch: process.arch,
      macosMajor: process.platform === 'darwin' ? 26 : null,
      musl: false,
      nvidiaDriver: process.platform === 'linux' ? '580.65.06' : null,
      nvidia: process.platform === 'linux' ? [{ name: 'NVIDIA H200', capability: [9, 0] }] : [],
    },
    env: {
      PATH: process.env['PATH'] ?? '',
      PIP_INDEX_URL: `${address}/simple`,
      // No managed Python can be downloaded from here: the Python of this computer is used instead.
      UV_PYTHON_INSTALL_MIRROR: `${address}/python`,
      NO_PROXY: '127.0.0.1',
    },
    address,
    extra,
    disconnect,
    remove: async () => {
      await disconnect();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/**
 * Makes a wheel for each package that computing needs, from the list that the Python side checks, and for one
 * that PyTorch needs; and their lock file.
 */
async function stubWheels(host: PythonEnvironment, folder: string, source: string): Promise<string> {
  const check = await readFile(join(source, 'virnucpro_backend', 'environment_check.py'), 'utf8');
  const block = /PACKAGES = \{([^}]*)\}/.exec(check)?.[1] ?? '';
  const names = [...block.matchAll(/"([^"]+)": "([^"]+)"/g)].map(([, distribution, module]) => [
    distribution,
    module,
  ]);
  await mkdir(folder, { recursive: true });
  const made = await runCommand({
    file: host.interpreter,
    args: ['-I', '-c', MAKE_WHEELS, folder, JSON.stringify([...names, ['triton', 'triton']])],
    env: scrubbedEnvironment(process.env),
  });
  if (made.ending !== 'succeeded') throw new Error(made.stderr);
  let lock = '';
  for (const name of (await readdir(folder)).sort()) {
    const hash = await hashFile(join(folder, name));
    lock += `${(name.split('-')[0] ?? '').replaceAll('_', '-')}==1.0 \\\n    --hash=sha256:${hash}\n`;
  }
  return lock;
}

const MAKE_WHEELS = `
import json, sys, zipfile
folder, names = sys.argv[1], json.loads(sys.argv[2])
for distribution, module in names:
    safe = distribution.replace("-", "_")
    needs = "Requires-Dist: triton\\n" if distribution == "torch" else ""
    info = f"{safe}-1.0.dist-info"
    files = {
        f"{module}/__init__.py": 'VERSION = {"number": 1}\\n',
        f"{info}/METADATA": f"Metadata-Version: 2.1\\nName: {distribution}\\nVersion: 1.0\\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\\nGenerator: stub\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(f"{folder}/{safe}-1.0-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
`;

/** Serves a package index as pip and uv read it: a page of links for each package. */
async function serve(folder: string, extra: ReadonlyMap<string, Buffer>): Promise<Server> {
  const names = await readdir(folder);
  const hashes = new Map<string, string>();
  for (const name of names) hashes.set(name, await hashFile(join(folder, name)));
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    const project = /^\/simple\/([^/]+)\/$/.exec(path)?.[1];
    const file = path.split('/').at(-1) ?? '';
    const wheels = names.filter((name) => name.split('-')[0]?.replaceAll('_', '-') === project);
    if (project !== undefined && wheels.length > 0) {
      response.setHeader('Content-Type', 'text/html');
      response.end(
        wheels.map((name) => `<a href="/files/${name}#sha256=${hashes.get(name)}">${name}</a>`).join('\n'),
      );
    } else if (names.includes(file)) {
      void readFile(join(folder, file)).then((bytes) => response.end(bytes));
    } else if (extra.has(file)) {
      response.end(extra.get(file));
    } else {
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return server;
}
