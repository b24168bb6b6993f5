/**
 * A stand-in for OpenSSH's client: the "other computer" is this one with another home folder. It accepts the
 * options that `signIn` passes, asks like ssh, and can be disconnected. It is started by the script that
 * `makeFakeSsh` writes.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { WHEEL_PLATFORM } from '../remoteServer.ts';

interface FakeSshWorld {
  /** The home folder of the other computer. */
  home: string;
  /** The error that ssh prints instead of connecting. */
  says?: string;
  /** Set if the host key is not known yet. */
  fingerprint?: string;
  /** Set if it requires this password. */
  password?: string;
  /** Environment variables on the other computer. */
  env?: Record<string, string>;
}

const LOOK_EVERY_MS = 10;
const KNOWN = 'known';

/** Returns a folder to put first in the PATH. While it contains a file `cut`, there is no connection. */
export function makeFakeSsh(folder: string, world: FakeSshWorld): string {
  mkdirSync(folder, { recursive: true });
  mkdirSync(world.home, { recursive: true });
  writeFileSync(join(folder, 'world.json'), JSON.stringify(world));
  const program = join(folder, 'ssh');
  writeFileSync(
    program,
    `#!/bin/sh\nexec "${process.execPath}" "${import.meta.filename}" "${folder}" "$@"\n`,
  );
  chmodSync(program, 0o755);
  return folder;
}

/**
 * Makes a folder with what is installed on other computers: its uv installs a `python` that is this script, as a
 * shell reads it, whose arguments from the fourth on are those of `virnucpro`.
 */
export function makeServerPackage(folder: string, version: string, script: string): string {
  for (const name of ['server', 'uv']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(
    join(folder, 'server', `virnucpro_desktop-${version}-py3-none-${WHEEL_PLATFORM}.whl`),
    script,
  );
  writeFileSync(
    join(folder, 'uv', 'uv'),
    `#!/bin/sh
[ "$1" = venv ] || exit 0
mkdir -p env/bin env/lib/python3/site-packages/virnucpro_desktop/program
{ echo '#!/bin/sh'; cat ./*.whl; } > env/bin/python
chmod u+x env/bin/python
`,
  );
  return folder;
}

export function cutFakeSsh(folder: string, cut: boolean): void {
  if (cut) writeFileSync(join(folder, 'cut'), '');
  else rmSync(join(folder, 'cut'), { force: true });
}

if (import.meta.main) await main(process.argv.slice(2));

async function main([folder = '', ...args]: string[]): Promise<void> {
  const world = JSON.parse(readFileSync(join(folder, 'world.json'), 'utf8')) as FakeSshWorld;
  const options = new Map<string, string>();
  const forwards: string[] = [];
  let rest: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at];
    if (word === '--') {
      rest = args.slice(at + 1);
      break;
    }
    const [name = '', ...value] = (args[at + 1] ?? '').split('=');
    if (word === '-o') options.set(name, value.join('='));
    if (word === '-L') forwards.push(args[at + 1] ?? '');
    if (word === '-o' || word === '-L' || word === '-F') at += 1;
  }
  const [target = '', command = ''] = rest;
  const cut = (): boolean => existsSync(join(folder, 'cut'));
  if (cut()) end(`ssh: connect to host ${target} port 22: Network is unreachable`);
  if (world.says !== undefined) end(world.says);
  // Further commands share the connection of the first.
  if (!options.has('ProxyCommand')) signIn(folder, world, target, options);
  for (const forward of forwards) await openForward(forward);
  const child = spawn('sh', ['-c', command], {
    stdio: 'inherit',
    detached: true,
    env: {
      PATH: process.env['PATH'],
      LANG: 'C.UTF-8',
      SSH_CONNECTION: 'fake',
      ...world.env,
      HOME: world.home,
    },
  });
  child.on('exit', (code) => process.exit(code ?? 1));
  const stop = (words: string): never => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has already ended.
    }
    return end(words);
  };
  process.on('SIGTERM', () => stop(''));
  setInterval(() => {
    if (cut()) stop(`Timeout, server ${target} not responding.`);
  }, LOOK_EVERY_MS);
}

function signIn(
  folder: string,
  world: FakeSshWorld,
  target: string,
  options: ReadonlyMap<string, string>,
): void {
  const isBatch = options.get('BatchMode') === 'yes';
  if (world.fingerprint !== undefined && !existsSync(join(folder, KNOWN))) {
    const answer = isBatch
      ? ''
      : asked(
          `The authenticity of host '${target} (192.0.2.1)' can't be established.\nED25519 key fingerprint is ${world.fingerprint}.\nThis key is not known by any other names.\nAre you sure you want to continue connecting (yes/no/[fingerprint])? `,
        );
    if (answer !== world.fingerprint) end('Host key verification failed.');
    writeFileSync(join(folder, KNOWN), '');
  }
  if (world.password !== undefined) {
    for (let attempt = 0; attempt < 3 && !isBatch; attempt += 1) {
      if (asked(`${target}'s password: `) === world.password) return;
    }
    end(`${target}: Permission denied (publickey,password).`);
  }
}

function asked(prompt: string): string {
  const { stdout } = spawnSync(process.env['SSH_ASKPASS'] ?? 'false', [prompt], { encoding: 'utf8' });
  return stdout.trim();
}

async function openForward(forward: string): Promise<void> {
  const [, near, far] = /^127\.0\.0\.1:(\d+):127\.0\.0\.1:(\d+)$/.exec(forward) ?? [];
  const server = createServer((here) => {
    const there = connect(Number(far), '127.0.0.1');
    here.on('error', () => there.destroy());
    there.on('error', () => here.destroy());
    here.pipe(there).pipe(here);
  });
  await once(server.listen(Number(near), '127.0.0.1'), 'listening');
}

function end(words: string): never {
  if (words !== '') process.stderr.write(`${words}\n`);
  process.exit(255);
}
