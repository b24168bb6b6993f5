import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const REPORT_EVERY_MS = 10_000;
const LINES_KEPT = 60;

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

/**
 * Installs the npm packages and reports the progress. Throws an Error whose message is the end of npm's
 * output and one clear sentence. `say` receives text including line ends.
 */
export async function installPackages(root, say = (text) => process.stderr.write(text)) {
  const nodeModules = join(root, 'node_modules');
  // On Windows `npm ci` can't delete the node.exe in node_modules that may be running this script.
  const keepRunningNode = process.platform === 'win32' && existsSync(nodeModules);
  say('Installing the npm packages (about 300 MB to fetch, 0.7 GB on the disk) ...\n');
  const install = [
    keepRunningNode ? 'install' : 'ci',
    ...['--include=dev', '--include=optional'],
    // Of the packages' scripts only Node's own has an effect here. npm would also compile better-sqlite3,
    // which contains its binaries; that would need a compiler and access to nodejs.org.
    '--ignore-scripts',
  ];
  await reporting(root, say, [install, PLACE_NODE]);
}

/** Installs Node's program if the packages are complete but an interruption prevented this step. */
export function installNode(root, say = (text) => process.stderr.write(text)) {
  return reporting(root, say, [PLACE_NODE]);
}

const PLACE_NODE = ['rebuild', 'node', '--ignore-scripts=false'];
const COMMON = [
  '--no-audit',
  '--no-fund',
  // Set explicitly, since `npm --silent` would silence this npm, too. At this level npm reports what it
  // fetches and runs.
  '--loglevel=info',
];

async function reporting(root, say, commands) {
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  const progress = progressOf(packageCount(root));
  const ticker = setInterval(() => say(`  ${seconds()} s, ${progress.words()}\n`), REPORT_EVERY_MS);
  let interrupted = false;
  const noteInterruption = () => {
    interrupted = true;
  };
  process.once('SIGINT', noteInterruption);
  try {
    for (const command of commands) {
      const { code, lines } = await npm(root, [...command, ...COMMON], progress.see);
      if (interrupted)
        throw stop('Interrupted. Start again: what was downloaded is not downloaded twice.', 130);
      if (code !== 0) throw stop(`${lines.join('\n')}\n\n${inWords(lines.join('\n'))}`, 1);
    }
  } finally {
    clearInterval(ticker);
    process.removeListener('SIGINT', noteInterruption);
  }
  say(`The npm packages are installed (${seconds()} s).\n`);
}

function stop(message, exitCode) {
  return Object.assign(new Error(message), { exitCode });
}

/** `see` is called with each line of npm and returns whether the line only reports progress. */
function npm(root, args, see) {
  // Uses the npm that started this script, otherwise the one in the PATH, which on Windows is a batch file.
  const running = process.env.npm_execpath;
  const [file, ...before] = running?.endsWith('.js') ? [process.execPath, running] : ['npm'];
  const shell = process.platform === 'win32' && before.length === 0;
  return new Promise((done, fail) => {
    const child = spawn(file, [...before, ...args], { cwd: root, shell, stdio: ['ignore', 'pipe', 'pipe'] });
    const lines = [];
    for (const stream of [child.stdout, child.stderr]) {
      let rest = '';
      const take = (line) => {
        if (!line.trim() || see(line)) return;
        lines.push(line);
        lines.splice(0, lines.length - LINES_KEPT);
      };
      stream.setEncoding('utf8');
      stream.on('data', (text) => {
        const whole = (rest + text).split(/\r?\n/);
        rest = whole.pop();
        whole.forEach(take);
      });
      stream.on('end', () => take(rest));
    }
    child.on('error', () => {
      fail(stop('npm was not found. It comes with Node.js: install Node.js from https://nodejs.org', 1));
    });
    child.on('close', (code) => done({ code, lines }));
  });
}

/** Derives npm's progress from its lines: it fetches all packages, then runs the install scripts of some. */
export function progressOf(total) {
  const fetched = new Set();
  let script;
  return {
    see(line) {
      const file = /^npm http (?:fetch GET 200|cache) (\S+\.tgz)/.exec(line)?.[1];
      if (file !== undefined) fetched.add(file);
      const run = /^npm info run (\S+)@\S+ \S+ \S+ (?!\{)/.exec(line);
      if (run) script = run[1];
      // What could not be fetched is all that npm 10 may say of its failure.
      return /^npm (?:http|info|warn EBADENGINE)\b(?!.* failed with )/.test(line);
    },
    words() {
      if (script !== undefined) return `putting ${script} in its place`;
      if (fetched.size === 0) return 'looking up the packages';
      return `${Math.min(fetched.size, total)} of ${total} packages fetched`;
    },
  };
}

/** Number of packages in package-lock.json for this kind of computer. */
function packageCount(root) {
  try {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    const isFor = (list, value) => list === undefined || list.includes(value);
    return Object.entries(packages).filter(
      ([path, { os, cpu }]) => path !== '' && isFor(os, process.platform) && isFor(cpu, process.arch),
    ).length;
  } catch {
    return 0;
  }
}

const AGAIN = 'then start again: it goes on where it stopped.';

/** Explains a failure of npm in one sentence, with what to do. */
export function inWords(output) {
  if (/ENOSPC/.test(output)) return 'The disk is full: free about 2 GB, then start again.';
  if (/EACCES|EPERM|EROFS/.test(output)) {
    return 'The folder of this program cannot be written: move it to a folder of yours, then start again.';
  }
  if (CERTIFICATE.test(output)) {
    return "The package registry shows a certificate that is not trusted here: set NODE_EXTRA_CA_CERTS to your network's certificate, then start again.";
  }
  if (NETWORK.test(output)) {
    return `The npm packages could not be downloaded: check the network connection and the proxy, ${AGAIN}`;
  }
  return 'Installing the npm packages failed; the reason is in the lines above.';
}

const CERTIFICATE = /CERT|self.signed|unable to verify/i;
export const NETWORK =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|UND_ERR_CONNECT|network|fetch failed|\b(?:403|407|50[234]) response/i;
