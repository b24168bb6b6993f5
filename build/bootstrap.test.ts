import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const BOOTSTRAP = join(import.meta.dirname, 'bootstrap.mjs');
const folder = await mkdtemp(join(tmpdir(), 'virnucpro-bootstrap-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

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
