/** Runs those commands of the release workflow that run anywhere; the workflow itself never ran here. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { temporaryFolder } from '../../electron/engine/testing/temporaryFolder.ts';

const root = join(import.meta.dirname, '..', '..');
const { load } = createRequire(import.meta.url)('js-yaml') as { load: (text: string) => unknown };

const stepSchema = z.object({
  if: z.string().optional(),
  run: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
});
const workflowSchema = z.object({
  jobs: z.record(z.string(), z.object({ steps: z.array(stepSchema).default([]) })),
});
const text = readFileSync(join(root, '.github', 'workflows', 'release.yml'), 'utf8');

describe('a release', () => {
  const steps = Object.values(workflowSchema.parse(load(text)).jobs).flatMap(({ steps }) => steps);
  const packing = (system: string) =>
    steps.find((step) => step.if === `runner.os == '${system}'` && step.run?.includes('npm run pack'));
  const commands = steps.map(({ run }) => run ?? '').join('\n');

  it.skipIf(process.platform === 'win32')(
    'gives each system only the secrets of its own signature, in the form that electron-builder expects',
    async () => {
      expect(packing('Linux')?.env).toBeUndefined();
      expect(JSON.stringify(packing('Windows')?.env)).not.toMatch(/CSC|APPLE/);
      expect(JSON.stringify(packing('macOS')?.env)).not.toContain('AZURE');

      const folder = temporaryFolder();
      // This stand-in prints the arguments and variables that it was given.
      writeFileSync(
        join(folder, 'npm'),
        '#!/bin/sh\nprintf "%s\\n" "$@"\n[ -z "$APPLE_API_KEY" ] || cat "$APPLE_API_KEY"\n',
        { mode: 0o755 },
      );
      const run = async (system: string, given: Record<string, string>): Promise<string[]> => {
        const { run: command = '', env = {} } = packing(system) ?? {};
        const unset = Object.fromEntries(Object.keys(env).map((name) => [name, '']));
        const { stdout } = await execa('bash', ['-eo', 'pipefail', '-c', command], {
          env: { ...unset, ...given, RUNNER_TEMP: folder, PATH: `${folder}:/usr/bin:/bin` },
          extendEnv: false,
        });
        return stdout.split('\n');
      };
      expect(await run('macOS', {})).toEqual(['run', 'pack']);
      expect(await run('macOS', { APPLE_API_KEY_TEXT: 'the key' })).toEqual(['run', 'pack', 'the key']);
      expect(await run('Windows', {})).toEqual(['run', 'pack', '--']);
      const signed = await run('Windows', {
        AZURE_CLIENT_SECRET: 'secret',
        AZURE_PUBLISHER: 'The Institute',
      });
      expect(signed).toContain('-c.win.azureSignOptions.publisherName=The Institute');
    },
  );

  it.skipIf(process.platform === 'win32')('is refused if its tag is not the version', async () => {
    const command = steps.find(({ run }) => run?.includes('jq'))?.run ?? '';
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    const folder = temporaryFolder();
    // This stand-in reads the one thing that it is asked for.
    writeFileSync(
      join(folder, 'jq'),
      `#!/bin/sh\n[ "$*" = "-r .version package.json" ] && echo ${version}\n`,
      {
        mode: 0o755,
      },
    );
    const isRefused = async (tag: string) => {
      const env = { GITHUB_REF_NAME: tag, PATH: `${folder}:/usr/bin:/bin` };
      return (await execa('bash', ['-e', '-c', command], { cwd: root, env, extendEnv: false, reject: false }))
        .failed;
    };
    expect(await isRefused(`v${version}`)).toBe(false);
    for (const tag of ['v7.7.7', version, `v${version}-rc1`]) expect(await isRefused(tag), tag).toBe(true);
  });

  it.skipIf(process.platform === 'win32')(
    'has the notes of its version, and fails without them',
    async () => {
      const command = /^awk [^]*?>> notes\.md$/m.exec(commands)?.[0] ?? '';
      expect(command).toContain('CHANGELOG.md');
      const folder = temporaryFolder();
      const notes = async (tag: string): Promise<string | null> => {
        const script = command
          .replaceAll('notes.md', `'${join(folder, 'notes.md')}'`)
          .replaceAll('CHANGELOG.md', join(root, 'CHANGELOG.md'));
        const { failed } = await execa('bash', ['-e', '-c', script], {
          env: { GITHUB_REF_NAME: tag, GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'a/b' },
          reject: false,
        });
        return failed ? null : readFileSync(join(folder, 'notes.md'), 'utf8');
      };
      expect(await notes('v0.1.0')).toMatch(/^## \[0\.1\.0\]/);
      expect(await notes('v0.1.0')).not.toContain('Unreleased');
      // Users who open an unsigned program for the first time need instructions.
      expect(await notes('v0.1.0')).toContain('https://github.com/a/b/blob/v0.1.0/docs/troubleshooting.md');
      expect(await notes('v7.7.7')).toBeNull();
    },
  );
});

/** Runs tryPackages.sh as on a runner of this system, whose programs only say what they were called with. */
describe.skipIf(process.platform === 'win32')('packages are tried', () => {
  const PROGRAM = `#!/bin/sh
echo "$(basename "$0") $*" >> "$CALLS"
here="$(dirname "$0")"
! grep -q X "$here/resources/app.asar" "$here/../Resources/app.asar" 2>/dev/null || exit "\${CHANGED:-1}"
exit "\${CHECK:-0}"
`;
  const REPORTS = '#!/bin/sh\necho "$(basename "$0") $*" >> "$CALLS"\n';
  const RUNS_IT = '#!/bin/sh\n[ "$1" = --auto-servernum ] && shift\n"$@"\n';
  const SYSTEMS = {
    Linux: {
      packages: ['a.deb', 'a.AppImage', 'a.tar.gz'],
      programs: {
        'xvfb-run': RUNS_IT,
        sudo: RUNS_IT,
        'apt-get': REPORTS,
        'virnucpro-desktop': PROGRAM,
        // Puts a program where the archive is unpacked: after -C.
        tar: `${REPORTS}cp "$(command -v virnucpro-desktop)" "$4/"; printf '#!/bin/sh\\n' > "$4/allow-sandbox.sh"; chmod +x "$4/allow-sandbox.sh"\n`,
      },
      starts: ['virnucpro-desktop', 'virnucpro-desktop', 'a.AppImage', 'virnucpro-desktop'],
    },
    Darwin: {
      packages: ['a.dmg'],
      programs: {
        hdiutil: `${REPORTS}[ "$1" = attach ] || exit 0
contents="$4/VirNucPro Desktop.app/Contents"; mkdir -p "$contents/MacOS" "$contents/Resources"
head -c 200 /dev/zero > "$contents/Resources/app.asar"; cp "$(command -v virnucpro-desktop)" "$contents/MacOS/VirNucPro Desktop"\n`,
        'virnucpro-desktop': PROGRAM,
        ...Object.fromEntries(['codesign', 'spctl', 'xcrun'].map((name) => [name, REPORTS])),
      },
      starts: ['VirNucPro Desktop', 'VirNucPro Desktop', 'VirNucPro Desktop'],
    },
    'MINGW64_NT-10.0': {
      packages: ['a.exe'],
      programs: { powershell: REPORTS, 'virnucpro-desktop': PROGRAM },
      starts: ['VirNucPro Desktop.exe', 'VirNucPro Desktop.exe', 'VirNucPro Desktop.exe'],
    },
  };
  const INSTALLER = `#!/bin/sh
echo "installer $*" >> "$CALLS"; folder="$LOCALAPPDATA/Programs/virnucpro-desktop"; mkdir -p "$folder/resources"
head -c 200 /dev/zero > "$folder/resources/app.asar"; cp "$(command -v virnucpro-desktop)" "$folder/VirNucPro Desktop.exe"
printf '#!/bin/sh\\necho "uninstaller $*" >> "$CALLS"; rm "$LOCALAPPDATA/Programs/virnucpro-desktop/VirNucPro Desktop.exe"\\n' > "$folder/Uninstall VirNucPro Desktop.exe"
chmod +x "$folder"/*.exe
`;

  async function tryOn(system: keyof typeof SYSTEMS, env: Record<string, string> = {}) {
    const folder = temporaryFolder();
    const place = (path: string, content: string) => {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), content, { mode: 0o755 });
    };
    const { packages, programs } = SYSTEMS[system];
    place(
      'build/release/tryPackages.sh',
      readFileSync(join(root, 'build', 'release', 'tryPackages.sh'), 'utf8'),
    );
    for (const name of packages) place(`out/${name}`, name.endsWith('.exe') ? INSTALLER : PROGRAM);
    for (const [name, content] of Object.entries({ ...programs, uname: `#!/bin/sh\necho ${system}\n` }))
      place(`bin/${name}`, content);
    const calls = join(folder, 'calls');
    const { failed } = await execa('bash', [join(folder, 'build', 'release', 'tryPackages.sh')], {
      env: {
        ...env,
        PATH: `${join(folder, 'bin')}:/usr/bin:/bin`,
        CALLS: calls,
        LOCALAPPDATA: join(folder, 'local'),
      },
      extendEnv: false,
      reject: false,
    });
    const said = readFileSync(calls, 'utf8').trimEnd().split('\n');
    rmSync(folder, { recursive: true });
    return { failed, said };
  }

  it.each(Object.keys(SYSTEMS) as (keyof typeof SYSTEMS)[])('on %s', async (system) => {
    const { failed, said } = await tryOn(system);
    const starts = said.filter((line) => line.includes('--self-check'));
    expect(starts.map((line) => line.replace(/ --.*/, ''))).toEqual(SYSTEMS[system].starts);
    expect(starts[0]).toContain('--set-up');
    expect(failed).toBe(false);
    expect((await tryOn(system, { CHECK: '1' })).failed).toBe(true);
    // Electron looks for changed archives on two systems.
    expect((await tryOn(system, { CHANGED: '0' })).failed).toBe(system !== 'Linux');
  });

  it('looks at signatures where there are some', async () => {
    expect((await tryOn('Darwin')).said.join('\n')).not.toMatch(/spctl|stapler/);
    const { said } = await tryOn('Darwin', { SIGNED: 'true', NOTARISED: 'true' });
    expect(said.join('\n')).toMatch(
      /codesign --verify --deep --strict[^]*spctl --assess[^]*stapler validate/,
    );
    expect((await tryOn('MINGW64_NT-10.0', { SIGNED: 'true' })).said[0]).toContain('AuthenticodeSignature');
    expect((await tryOn('MINGW64_NT-10.0')).said).toContain('installer /S');
  });
});
