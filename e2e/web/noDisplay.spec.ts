import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '../support/fixtures.ts';

const root = join(import.meta.dirname, '..', '..');

test('npm start on a computer without a screen serves the browser, and explains why', async ({ places }) => {
  test.skip(process.platform !== 'linux', 'Not run, since elsewhere every computer has a screen.');
  const program = spawn(
    process.execPath,
    [join(root, 'build', 'start.ts'), '--root', places.files, '--port', '0'],
    {
      env: {
        ...process.env,
        DISPLAY: '',
        WAYLAND_DISPLAY: '',
        HOME: places.files,
        VIRNUCPRO_DATA_DIR: places.data,
      },
      // The processes form a group, as in a terminal, which sends its signals to all of them.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [program.stdout, program.stderr]) {
    stream.on('data', (data: Buffer) => (output += data.toString('utf8')));
  }
  const ended = new Promise((resolve) => program.once('close', resolve));
  try {
    const address = () => /http:\/\/127\.0\.0\.1:\d+\/\?token=\S+/.exec(output)?.[0] ?? '';
    await expect.poll(address, { timeout: 120_000 }).not.toBe('');
    expect(output).toContain('Opening in the browser, since this computer has no screen.');
    expect((await fetch(address())).status).toBe(200);
  } finally {
    process.kill(-(program.pid ?? 0), 'SIGINT');
  }
  await ended;
});
