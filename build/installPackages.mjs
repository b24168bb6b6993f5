import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Whether node_modules matches package-lock.json. npm records what it installed in node_modules as its last
 * step, so an interrupted installation never counts as complete.
 */
export function packagesAreCurrent(root) {
  const wanted = packagesIn(join(root, 'package-lock.json'));
  const installed = packagesIn(join(root, 'node_modules', '.package-lock.json'));
  if (wanted === undefined) return existsSync(join(root, 'node_modules'));
  if (installed === undefined) return false;
  return Object.entries(wanted).every(([path, { version, optional, devOptional, peer }]) => {
    const there = installed[path];
    // npm does not install packages for other computers.
    if (path === '' || (there === undefined && (optional || devOptional || peer))) return true;
    return there !== undefined && there.version === version;
  });
}

function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** Path of the Node 24 that an npm package contains. */
export function projectsNode(root) {
  return join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

/** Installs the npm packages; npm itself says what it does, and what is wrong. Throws an Error with what to do. */
export async function installPackages(root) {
  // On Windows `npm ci` can't delete the node.exe in node_modules that may be running this script.
  const keepRunningNode = process.platform === 'win32' && existsSync(join(root, 'node_modules'));
  process.stderr.write('Installing the npm packages (about 300 MB to fetch, 0.7 GB on the disk) ...\n');
  await npm(root, [
    keepRunningNode ? 'install' : 'ci',
    ...['--include=dev', '--include=optional'],
    // Of the packages' scripts only Node's own has an effect here. npm would also compile better-sqlite3,
    // which contains its binaries; that would need a compiler and access to nodejs.org.
    '--ignore-scripts',
  ]);
  await installNode(root);
}

/** Puts Node's program in its place, also if the packages are complete but an interruption prevented this step. */
export function installNode(root) {
  return npm(root, ['rebuild', 'node', '--ignore-scripts=false']);
}

const FAILED =
  'The npm packages could not be installed; the reason is in the lines above. Check the network and its proxy (NODE_EXTRA_CA_CERTS names a certificate ' +
  'of its own), the space on the disk, and that this folder can be written; then start again: it goes on where it stopped.';

function npm(root, args) {
  // Uses the npm that started this script, otherwise the one in the PATH, which on Windows is a batch file.
  const running = process.env.npm_execpath;
  const [file, ...before] = running?.endsWith('.js') ? [process.execPath, running] : ['npm'];
  const shell = process.platform === 'win32' && before.length === 0;
  // `npm --silent` would silence this npm, too. Standard output belongs to the script that is started afterwards.
  const options = ['--no-audit', '--no-fund', '--loglevel=notice'];
  return new Promise((done, fail) => {
    const child = spawn(file, [...before, ...args, ...options], {
      ...{ cwd: root, shell, stdio: ['ignore', process.stderr, 'inherit'] },
    });
    child.on('error', () => {
      fail(new Error('npm was not found. It comes with Node.js: install Node.js from https://nodejs.org'));
    });
    child.on('close', (code) => {
      if (code === 0) done();
      else fail(new Error(FAILED));
    });
  });
}
