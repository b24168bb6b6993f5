import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFakeSsh } from '../engine/computers/testing/fakeSsh.ts';
import { temporaryFolder } from '../engine/testing/testContext.ts';
import { ended, virnucpro, type Ending } from './testing/commandLineProcess.ts';

it.skipIf(process.platform === 'win32')(
  'removing a computer uninstalls the program there, unless it is computing',
  async () => {
    const folder = await temporaryFolder();
    const home = join(folder, 'far home');
    const ssh = makeFakeSsh(join(folder, 'ssh'), { home });
    const share = join(home, '.local', 'share');
    const [program, weights] = [join(share, 'virnucpro-server', 'abc'), join(share, 'virnucpro-desktop')];
    for (const each of [program, weights]) mkdirSync(each, { recursive: true });
    // The program stops its server in the same way: not while a run is computing.
    const busy = join(home, 'busy');
    const python = join(program, 'env', 'bin', 'python');
    mkdirSync(join(python, '..'), { recursive: true });
    writeFileSync(python, `#!/bin/sh\n[ "$5" = --end-detached ] && [ ! -e '${busy}' ]\n`, { mode: 0o755 });
    const computers = (...words: string[]): Promise<Ending> =>
      ended(
        virnucpro(['computers', ...words], {
          env: { PATH: `${ssh}:${process.env['PATH'] ?? ''}`, VIRNUCPRO_DATA_DIR: join(folder, 'data') },
        }),
      );

    expect((await computers('add', '--', '-oProxyCommand=touch')).code).toBe(1);
    // Adding a computer twice lists it once.
    for (const name of ['Near', 'Far'])
      expect((await computers('add', 'anna@far', '--name', name)).code).toBe(0);
    expect((await computers('list', '--json')).output).toBe('[{"name":"Far","address":"anna@far"}]\n');

    writeFileSync(busy, '');
    expect((await computers('remove', 'Far')).code).toBe(1);
    expect(existsSync(program)).toBe(true);
    rmSync(busy);
    const removed = await computers('remove', 'Far');
    expect(removed.code, removed.output).toBe(0);
    expect(existsSync(join(share, 'virnucpro-server'))).toBe(false);
    expect(existsSync(weights)).toBe(true);
    expect((await computers('list', '--json')).output).toBe('[]\n');
  },
);
