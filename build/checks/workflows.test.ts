/** Runs those commands of the release workflow that run anywhere; the workflow itself never ran here. */
import { readFileSync, writeFileSync } from 'node:fs';
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

describe.skipIf(process.platform === 'win32')('a release', () => {
  const steps = Object.values(workflowSchema.parse(load(text)).jobs).flatMap(({ steps }) => steps);
  const packing = (system: string) =>
    steps.find((step) => step.if === `runner.os == '${system}'` && step.run?.includes('npm run pack'));
  const commands = steps.map(({ run }) => run ?? '').join('\n');

  it('gives each system only the secrets of its own signature, in the form that electron-builder expects', async () => {
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
  });

  it('is refused if its tag is not the version', async () => {
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

  it('has the notes of its version, and fails without them', async () => {
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
  });
});
