// Runs one of the project's scripts with the right Node, from a fresh clone as well:
//   node build/bootstrap.mjs [--in-callers-folder] SCRIPT [ARGUMENTS...]
// This is plain JavaScript that needs only Node 18 or newer. It installs the npm packages if they are missing or do
// not match package-lock.json (one of them contains Node 24), and then starts the script.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installNode, installPackages, packagesAreCurrent, projectsNode } from './installPackages.mjs';

const OLDEST_NODE = 18;
const PARENT_LOOK_MS = 500;
const SIGNALS_FROM = 128;
const COMMAND_LINE = 'electron/cli/main.ts';
// SQLite maps a small file into memory; the system sends this signal when that file can no longer be written.
const UNREACHABLE_FOLDER =
  'The program was ended by the system, because a file that it has open can no longer be written: the folder was locked or ' +
  'its disk is gone or full.\n  What to do: make the folder writable again, then resume the run. Everything computed is kept.';
const root = resolve(fileURLToPath(import.meta.url), '..', '..');

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    process.stderr.write(`\n${error.message}\n`);
    process.exitCode = 1;
  },
);

async function main(words) {
  if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
    throw new Error(
      `Node.js ${OLDEST_NODE} or newer is needed to start; this is ${process.versions.node}. Get it from https://nodejs.org`,
    );
  }
  const inCallersFolder = words[0] === '--in-callers-folder';
  const [script, ...args] = inCallersFolder ? words.slice(1) : words;
  if (script === undefined)
    throw new Error('Which script? Use the scripts of package.json, such as "npm start".');
  if (!packagesAreCurrent(root)) await installPackages(root);
  const node = projectsNode(root);
  if (!existsSync(node)) await installNode(root);
  if (!existsSync(node))
    throw new Error(`npm has not put Node 24 in its place, ${node}. Delete node_modules, then start again.`);
  let program = script === COMMAND_LINE ? currentBundle() : join(root, script);
  if (program === undefined) {
    const code = await runToItsEnd(node, [join(root, 'build', 'bundleToStart.ts')], root);
    if (code > SIGNALS_FROM) return code;
    program = currentBundle();
  }
  return runToItsEnd(node, [program ?? join(root, script), ...args], callersFolder(inCallersFolder));
}

/** The bundle of the command line; undefined if its sources have changed. */
function currentBundle() {
  try {
    const { build, made } = JSON.parse(readFileSync(join(root, 'dist', 'command-line.json'), 'utf8'));
    if (made.some(([name, changed]) => statSync(join(root, name)).mtimeMs !== changed)) return undefined;
    const program = join(root, 'dist', 'command-line', build, 'virnucpro.mjs');
    return existsSync(program) ? program : undefined;
  } catch {
    // There is none yet, or a file that it was made of is gone.
    return undefined;
  }
}

/**
 * npm runs scripts in the project's folder, but a path that the user typed is relative to the user's own
 * folder.
 */
function callersFolder(wanted) {
  return wanted && process.env.INIT_CWD ? process.env.INIT_CWD : root;
}

/** A killed npm does not stop the processes that it started, so this process watches for npm's end. */
function endWithNpm(child) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  setInterval(() => {
    if (process.ppid !== npm) child.kill('SIGTERM');
  }, PARENT_LOOK_MS).unref();
}

/**
 * Resolves to the exit code of the script. A signal to this process is passed on to the script; Ctrl-C
 * reaches both by itself, and so does all that Windows has: what Node sends there ends a program at once.
 */
function runToItsEnd(node, args, cwd) {
  return new Promise((done, fail) => {
    // Every process and thread that starts reads the same TypeScript: caching the compiled code halves their
    // start time.
    const env = {
      NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node'),
      // The same value as in build/bundleCommandLine.ts.
      MALLOC_ARENA_MAX: '2',
      ...process.env,
    };
    const child = spawn(node, args, { cwd, env, stdio: 'inherit' });
    const passOn = (signal) => process.platform === 'win32' || child.kill(signal);
    process.on('SIGINT', () => process.stdin.isTTY || passOn('SIGINT'));
    for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, passOn);
    endWithNpm(child);
    child.on('error', (error) => fail(new Error(`${node} cannot be started: ${error.message}`)));
    child.on('exit', (code, signal) => {
      if (signal === 'SIGBUS') process.stderr.write(`\n${UNREACHABLE_FOLDER}\n`);
      done(code ?? SIGNALS_FROM + constants.signals[signal]);
    });
  });
}
