import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const REPORT_EVERY_MS = 10_000;
const LINES_KEPT = 60;

/**
 * Installs the npm packages and says how it goes. Throws an Error whose message is the end of npm's output and one clear
 * sentence. `say` gets text with its line ends.
 */
export async function installPackages(root, say = (text) => process.stderr.write(text)) {
  const nodeModules = join(root, 'node_modules');
  // On Windows `npm ci` can't delete the node.exe in node_modules that may be running this script.
  const keepRunningNode = process.platform === 'win32' && existsSync(nodeModules);
  say('Installing the npm packages (about 300 MB to fetch, 0.7 GB on the disk) ...\n');
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
    const { code, lines } = await npm(
      root,
      [
        keepRunningNode ? 'install' : 'ci',
        '--include=dev',
        '--include=optional',
        '--ignore-scripts=false',
        '--no-audit',
        '--no-fund',
        // Of its own, since `npm --silent` would silence this npm too. At this level it names what it fetches and runs.
        '--loglevel=info',
      ],
      progress.see,
    );
    if (interrupted)
      throw stop('Interrupted. Start again: what was downloaded is not downloaded twice.', 130);
    if (code !== 0) throw stop(`${lines.join('\n')}\n\n${inWords(lines.join('\n'))}`, 1);
  } finally {
    clearInterval(ticker);
    process.removeListener('SIGINT', noteInterruption);
  }
  say(`The npm packages are installed (${seconds()} s).\n`);
}

function stop(message, exitCode) {
  return Object.assign(new Error(message), { exitCode });
}

/** `see` is called with each line of npm and answers whether it is one of those that only say how far npm is. */
function npm(root, args, see) {
  // The npm that started this script, else the one in the PATH, which on Windows is a batch file.
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

/** What npm does, from its lines: it fetches all packages, then runs the install scripts of some. */
export function progressOf(total) {
  const fetched = new Set();
  let script;
  return {
    see(line) {
      const file = /^npm http (?:fetch GET 200|cache) (\S+\.tgz)/.exec(line)?.[1];
      if (file !== undefined) fetched.add(file);
      const run = /^npm info run (\S+)@\S+ \S+ \S+ (?!\{)/.exec(line);
      if (run) script = run[1];
      return /^npm (?:http|info|warn EBADENGINE)\b/.test(line);
    },
    words() {
      if (script !== undefined) return `installing the native part of ${script}`;
      if (fetched.size === 0) return 'looking up the packages';
      return `${Math.min(fetched.size, total)} of ${total} packages fetched`;
    },
  };
}

/** Of package-lock.json, those for this kind of computer. */
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

/** The failure of npm in one sentence, and what to do. */
export function inWords(output) {
  if (/ENOSPC/.test(output)) return 'The disk is full: free about 2 GB, then start again.';
  if (/gyp ERR!|node-gyp|prebuild-install/.test(output)) return nativePartInWords(output);
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
const NETWORK =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|UND_ERR_CONNECT|network|fetch failed|\b(?:403|407|50[234]) response/i;

/** better-sqlite3 is compiled where there is no ready binary of it; for that, node-gyp fetches the headers of Node. */
function nativePartInWords(output) {
  if (CERTIFICATE.test(output) || NETWORK.test(output)) {
    return (
      "A native part could not be built, since Node's headers could not be fetched from nodejs.org: check the network " +
      'connection and the proxy. Where nodejs.org is out of reach, set npm_config_nodedir to the folder of an ' +
      `installed Node.js that has include/node, ${AGAIN}`
    );
  }
  const tools = {
    darwin: 'with "xcode-select --install"',
    win32: 'with the Visual Studio Build Tools ("Desktop development with C++") and Python',
  };
  const here =
    tools[process.platform] ?? 'on Debian and Ubuntu with "sudo apt install build-essential python3"';
  return `A native part could not be built; the reason is in the lines above. It needs a C++ compiler and Python: install them, ${here}, ${AGAIN}`;
}
