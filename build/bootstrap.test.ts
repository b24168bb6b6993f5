import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../electron/engine/testing/temporaryFolder.ts';

const BOOTSTRAP = join(import.meta.dirname, 'bootstrap.mjs');
const folder = temporaryFolder();

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

it.skipIf(process.platform === 'win32')(
  'ends the processes that npm has started when npm is killed',
  async () => {
    const [script, started, ended] = ['script.mjs', 'started', 'ended'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(
      script,
      `import { writeFileSync } from 'node:fs';
    setInterval(() => undefined, 1000);
    process.on('SIGTERM', () => { writeFileSync(${JSON.stringify(ended)}, 'by SIGTERM'); process.exit(); });
    writeFileSync(${JSON.stringify(started)}, '');`,
    );
    // Stands in for npm: it starts the bootstrap like a script of package.json, and does nothing else.
    const args = JSON.stringify([BOOTSTRAP, '--in-callers-folder', relativeToRoot(script)]);
    const npm = spawn(
      process.execPath,
      ['-e', `require('child_process').spawn(process.execPath, ${args}); setInterval(() => {}, 1000)`],
      { env: { ...process.env, npm_lifecycle_event: 'virnucpro', INIT_CWD: folder }, stdio: 'ignore' },
    );
    await until(() => existsSync(started));
    npm.kill('SIGKILL');
    await until(() => existsSync(ended));
    expect(readFileSync(ended, 'utf8')).toBe('by SIGTERM');
  },
);

it('starts the command line from a bundle, which it makes anew when a file that is in it has changed', () => {
  const list = join(import.meta.dirname, '..', 'dist', 'command-line.json');
  const look = join(folder, 'look.cjs');
  writeFileSync(look, 'process.stdout.write(`${process.argv[1]}\\n`);');
  const started = () =>
    execFileSync(process.execPath, [BOOTSTRAP, 'electron/cli/main.ts', '--version'], {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: `--require ${JSON.stringify(look)}` },
    });
  started();
  const made = readFileSync(list, 'utf8');
  const { build } = JSON.parse(made) as { build: string };
  const bundle = join('dist', 'command-line', build, 'virnucpro.mjs');
  expect(started()).toContain(bundle);
  expect(started()).not.toContain('bundleToStart');
  writeFileSync(list, made.replace(/(main\.ts",)[\d.]+/, '$10'));
  const anew = started();
  expect(anew).toContain('bundleToStart');
  expect(anew).toContain(bundle);
  expect(readFileSync(list, 'utf8')).toBe(made);
}, 60_000);

/** The bootstrap resolves scripts relative to the repository. */
function relativeToRoot(path: string): string {
  return join(
    ...join(import.meta.dirname, '..')
      .split('/')
      .filter(Boolean)
      .map(() => '..'),
    path,
  );
}
