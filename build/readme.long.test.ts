/** Runs README's commands as somebody does who has just got the folder, with each Node that README allows. */
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, expect, it } from 'vitest';
import { WITHOUT_PYTHON } from '../electron/engine/testing/realFiles.ts';
import { unpack } from './pack/npmPackage.ts';
import { temporaryFolder } from '../electron/engine/testing/temporaryFolder.ts';

const root = join(import.meta.dirname, '..');
const kind = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
/** Each Node with the npm that comes with it. */
const NODES = { 18: 10, 20: 10, 22: 10, 24: 11 };

let folder: string;
let clone: string;
beforeAll(async () => {
  folder = temporaryFolder();
  clone = join(folder, 'VirNucPro Desktop');
  await execa('git', ['clone', '--quiet', '--depth', '1', `file://${root}`, clone]);
  // The oldest Node installs the npm packages; PyTorch takes minutes, and is the same for all.
  symlinkSync(join(root, 'python-backend', '.venv'), join(clone, 'python-backend', '.venv'));
});

async function fetched(name: string, into: string): Promise<string> {
  const work = join(folder, into);
  mkdirSync(work);
  await execa('npm', ['pack', '--silent', name], { cwd: work });
  await unpack(join(work, readdirSync(work)[0] ?? ''));
  return join(work, 'package');
}

/** README's lines of a terminal. */
const commands = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^ *(npm .*)$/gm)].map(
  ([, command = '']) => command,
);

it.each(Object.entries(NODES))('with Node %s', async (node, npm) => {
  if (WITHOUT_PYTHON !== undefined || process.platform === 'win32') return;
  const program = join(await fetched(`node-${kind}@${node}`, `node-${node}`), 'bin');
  const npmCli = join(await fetched(`npm@${npm}`, `npm-${node}`), 'bin', 'npm-cli.js');
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^npm_(?!config_)|^NODE_(?!EXTRA)/.test(name),
  );
  const env = { ...Object.fromEntries(inherited), PATH: `${program}:/usr/bin:/bin` };
  const run = (command: string) =>
    execa(join(program, 'node'), [npmCli, ...command.split(' ').slice(1)], {
      ...{ cwd: clone, env, extendEnv: false },
    });

  expect((await execa(join(program, 'node'), ['--version'])).stdout).toContain(`v${node}.`);
  // e2e/web/firstStart.spec.ts starts the window's server by the other one.
  const [command = ''] = commands.filter((each) => each !== 'npm start');
  await run(command);
  expect(readdirSync(join(clone, 'out'))).toContain('sequences.tsv');
  rmSync(join(clone, 'out'), { recursive: true });
});
