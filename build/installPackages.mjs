import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const REPORT_EVERY_MS = 10_000;
const LINES_KEPT = 60;

/** Installs the npm packages and says how it goes. Throws an Error whose message is one clear sentence. */
export async function installPackages(root) {
  const nodeModules = join(root, 'node_modules');
  // On Windows `npm ci` can't delete the node.exe in node_modules that may be running this script.
  const keepRunningNode = process.platform === 'win32' && existsSync(nodeModules);
  process.stderr.write('Installing the npm packages, which takes a minute or two ...\n');
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  const ticker = setInterval(() => {
    process.stderr.write(`  ${seconds()} s, ${packageCount(nodeModules)} packages in place\n`);
  }, REPORT_EVERY_MS);
  let interrupted = false;
  const noteInterruption = () => {
    interrupted = true;
  };
  process.once('SIGINT', noteInterruption);
  try {
    const { code, lines } = await npm(root, [
      keepRunningNode ? 'install' : 'ci',
      '--include=dev',
      '--include=optional',
      '--ignore-scripts=false',
      '--no-audit',
      '--no-fund',
    ]);
    if (interrupted)
      throw stop('Interrupted. Start again: what was downloaded is not downloaded twice.', 130);
    if (code !== 0) throw stop(`${lines.join('\n')}\n\n${inWords(lines.join('\n'))}`, 1);
  } finally {
    clearInterval(ticker);
    process.removeListener('SIGINT', noteInterruption);
  }
  process.stderr.write(`The npm packages are installed (${seconds()} s).\n`);
}

function stop(message, exitCode) {
  return Object.assign(new Error(message), { exitCode });
}

function npm(root, args) {
  // The npm that started this script, else the one in the PATH, which on Windows is a batch file.
  const running = process.env.npm_execpath;
  const [file, ...before] = running?.endsWith('.js') ? [process.execPath, running] : ['npm'];
  const shell = process.platform === 'win32' && before.length === 0;
  return new Promise((done, fail) => {
    const child = spawn(file, [...before, ...args], { cwd: root, shell, stdio: ['ignore', 'pipe', 'pipe'] });
    const lines = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text) => {
        lines.push(...text.split('\n').filter((line) => line.trim()));
        lines.splice(0, lines.length - LINES_KEPT);
      });
    }
    child.on('error', () => {
      fail(stop('npm was not found. It comes with Node.js: install Node.js from https://nodejs.org', 1));
    });
    child.on('close', (code) => done({ code, lines }));
  });
}

function packageCount(nodeModules) {
  try {
    return readdirSync(nodeModules)
      .filter((name) => !name.startsWith('.'))
      .reduce(
        (sum, name) => sum + (name.startsWith('@') ? readdirSync(join(nodeModules, name)).length : 1),
        0,
      );
  } catch {
    return 0;
  }
}

function inWords(output) {
  if (/ENOSPC/.test(output)) return 'The disk is full: free about 2 GB, then start again.';
  if (/EACCES|EPERM|EROFS/.test(output)) {
    return 'The folder of this program cannot be written: move it to a folder of yours, then start again.';
  }
  if (/CERT|self.signed|unable to verify/i.test(output)) {
    return "The package registry shows a certificate that is not trusted here: set NODE_EXTRA_CA_CERTS to your network's certificate, then start again.";
  }
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network/i.test(output)) {
    return 'The npm packages could not be downloaded: check the network connection and the proxy, then start again.';
  }
  return 'Installing the npm packages failed; the reason is in the lines above.';
}
