/**
 * Checks the workflows of the public forge, which never ran here: their form, and those of their commands
 * that run anywhere.
 */
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const root = join(import.meta.dirname, '..', '..');
const { load } = createRequire(import.meta.url)('js-yaml') as { load: (text: string) => unknown };

const comboSchema = z.record(z.string(), z.string());
const matrixSchema = z.object({ include: z.array(comboSchema).default([]) }).catchall(z.array(z.string()));
const permissionsSchema = z.record(z.string(), z.enum(['read', 'write', 'none']));
const workflowSchema = z.object({
  on: z.record(z.string(), z.unknown()),
  permissions: permissionsSchema,
  jobs: z.record(
    z.string(),
    z.object({
      permissions: permissionsSchema.optional(),
      'timeout-minutes': z.number(),
      strategy: z.object({ matrix: matrixSchema }).optional(),
      steps: z.array(
        z.object({
          if: z.string().optional(),
          uses: z.string().optional(),
          run: z.string().optional(),
          env: z.record(z.string(), z.string()).optional(),
          with: z.record(z.string(), z.unknown()).optional(),
        }),
      ),
    }),
  ),
});

const files = globSync('.github/workflows/*.yml', { cwd: root });
const text = (file: string): string => readFileSync(join(root, file), 'utf8');
const workflow = (file: string) => workflowSchema.parse(load(text(file)));
const stepsOf = (file: string) => Object.values(workflow(file).jobs).flatMap(({ steps }) => steps);
const RELEASE = join('.github', 'workflows', 'release.yml');

describe.each(files)('%s', (file) => {
  it('pins every action by its hash, with the version beside it', () => {
    const used = [...text(file).matchAll(/uses: (.*)/g)].map(([, what]) => what);
    expect(used.length).toBeGreaterThan(0);
    for (const what of used) expect(what).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('may only read the repository, except where a release is drafted', () => {
    const { permissions, jobs } = workflow(file);
    expect(permissions).toEqual({ contents: 'read' });
    for (const [name, job] of Object.entries(jobs)) {
      expect(job.permissions, name).toEqual(
        file === RELEASE && name === 'draft'
          ? { contents: 'write', 'id-token': 'write', attestations: 'write' }
          : undefined,
      );
    }
  });

  it('gives no credentials to what it builds, and inserts no external values into a command', () => {
    for (const { uses, run, with: given } of stepsOf(file)) {
      if (uses?.startsWith('actions/checkout@') === true)
        expect(given).toMatchObject({ 'persist-credentials': false });
      // The only values in commands are names of tests from the workflow itself.
      expect(run ?? '').not.toMatch(/\$\{\{(?! matrix\.)/);
    }
    expect(workflow(file).on).not.toHaveProperty('pull_request_target');
  });
});

/**
 * The jobs that GitHub creates from a matrix: an entry of `include` extends each combination of which it
 * changes no value, and otherwise is a job of its own.
 */
function combinations({ include, ...values }: z.infer<typeof matrixSchema>): Record<string, string>[] {
  const own = Object.entries(values).reduce<Record<string, string>[]>(
    (all, [name, list]) => all.flatMap((combo) => list.map((value) => ({ ...combo, [name]: value }))),
    [{}],
  );
  const result = own.map((combo) => ({ ...combo }));
  for (const one of include) {
    const changed = (combo: Record<string, string>) =>
      Object.entries(one).some(([name, value]) => name in combo && combo[name] !== value);
    const joined = own.flatMap((combo, at) => (changed(combo) ? [] : [at]));
    if (joined.length === 0) result.push({ ...one });
    for (const at of joined) Object.assign(result[at] ?? {}, one);
  }
  return result;
}

describe('the checks', () => {
  const { test: job } = workflow(join('.github', 'workflows', 'checks.yml')).jobs;
  const jobs = job?.strategy ? combinations(job.strategy.matrix) : [];

  it('run every suite on three systems, and Python in both the most common and the oldest supported version', () => {
    expect(jobs).toHaveLength(10);
    const pythons = jobs.filter(({ os, suite }) => os?.startsWith('ubuntu') && suite === 'pytest');
    expect(pythons.map(({ python }) => python)).toEqual(['3.12', '3.10']);
  });

  it('run the specs of the shell in Electron itself, on Linux with a screen', () => {
    const steps = job?.steps.filter((step) => step.if?.includes("matrix.suite == 'e2e'")) ?? [];
    expect(steps.map(({ run }) => run).join('')).toMatch(
      /npm ci[^]*node node_modules\/electron\/install\.js[^]*xvfb-run --auto-servernum npm test e2e/,
    );
  });
});

describe('a release', () => {
  const steps = stepsOf(RELEASE);
  const packing = (system: string) =>
    steps.find((step) => step.if === `runner.os == '${system}'` && step.run?.includes('npm run pack'));
  const commands = steps.map(({ run }) => run ?? '').join('\n');

  it('is packed on three systems, each package is tried, and all of them are uploaded', () => {
    expect(JSON.stringify(workflow(RELEASE).jobs['pack']?.strategy)).toMatch(/ubuntu.*windows.*macos/);
    expect(commands).toMatch(/xvfb-run .*--smoke-test/);
    const uploaded = steps.find(({ uses }) => uses?.startsWith('actions/upload-artifact@'))?.with?.['path'];
    for (const ending of ['deb', 'AppImage', 'tar.gz', 'tgz', 'exe', 'dmg', 'zip'])
      expect(String(uploaded)).toContain(`out/*.${ending}\n`);
  });

  it('is a draft, with checksums, bill of materials and provenance', () => {
    expect(commands).toMatch(/gh release create .* --draft --verify-tag/);
    expect(commands).toContain('sha256sum');
    expect(commands).toContain('build/notices/writeBillOfMaterials.ts out/bill-of-materials.cdx.json');
    expect(JSON.stringify(steps)).toContain('out/*.cdx.json');
    expect(steps.some(({ uses }) => uses?.startsWith('actions/attest-build-provenance@'))).toBe(true);
  });

  it.skipIf(process.platform === 'win32')(
    'gives each system only the secrets of its own signature, in the form that electron-builder expects',
    async () => {
      expect(packing('Linux')?.env).toBeUndefined();
      expect(JSON.stringify(packing('Windows')?.env)).not.toMatch(/CSC|APPLE/);
      expect(JSON.stringify(packing('macOS')?.env)).not.toContain('AZURE');

      const folder = mkdtempSync(join(tmpdir(), 'signing-'));
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
      rmSync(folder, { recursive: true });
    },
  );

  it.skipIf(process.platform === 'win32')(
    'has the notes of its version, and fails without them',
    async () => {
      const command = /^awk [^]*?>> notes\.md$/m.exec(commands)?.[0] ?? '';
      expect(command).toContain('CHANGELOG.md');
      const folder = mkdtempSync(join(tmpdir(), 'notes-'));
      const notes = async (tag: string): Promise<string | null> => {
        const script = command
          .replaceAll('notes.md', join(folder, 'notes.md'))
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
      rmSync(folder, { recursive: true });
    },
  );
});
