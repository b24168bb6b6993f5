/** The workflows of the public forge, which never ran here: their form, and those of their commands that run anywhere. */
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const root = join(import.meta.dirname, '..', '..');
const { load } = createRequire(import.meta.url)('js-yaml') as { load: (text: string) => unknown };

const permissionsSchema = z.record(z.string(), z.enum(['read', 'write', 'none']));
const workflowSchema = z.object({
  on: z.record(z.string(), z.unknown()),
  permissions: permissionsSchema,
  jobs: z.record(
    z.string(),
    z.object({
      permissions: permissionsSchema.optional(),
      'timeout-minutes': z.number(),
      strategy: z.object({ matrix: z.record(z.string(), z.unknown()) }).optional(),
      steps: z.array(
        z.object({
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

  it('may read the repository and no more, except where a release is drafted', () => {
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

  it('leaves no credentials to what it builds, and puts nothing from outside into a command', () => {
    for (const { uses, run, with: given } of stepsOf(file)) {
      if (uses?.startsWith('actions/checkout@') === true)
        expect(given).toMatchObject({ 'persist-credentials': false });
      // Only names of tests from the workflow itself.
      expect(run ?? '').not.toMatch(/\$\{\{(?! matrix\.)/);
    }
    expect(workflow(file).on).not.toHaveProperty('pull_request_target');
  });
});

describe('a release', () => {
  const steps = stepsOf(RELEASE);
  const commands = steps.map(({ run }) => run ?? '').join('\n');

  it('is packed on three systems, each package tried, and all of it taken along', () => {
    expect(JSON.stringify(workflow(RELEASE).jobs['pack']?.strategy)).toMatch(/ubuntu.*windows.*macos/);
    expect(commands).toMatch(/xvfb-run .*--smoke-test/);
    const uploaded = steps.find(({ uses }) => uses?.startsWith('actions/upload-artifact@'))?.with?.['path'];
    // The files of newer versions, without which no program finds them, and all kinds of packages.
    for (const ending of ['deb', 'AppImage', 'tar.gz', 'tgz', 'exe', 'dmg', 'zip', 'blockmap'])
      expect(String(uploaded)).toContain(`out/*.${ending}\n`);
    expect(String(uploaded)).toContain('out/latest*.yml');
  });

  it('is a draft, with checksums, bill of materials and provenance', () => {
    expect(commands).toMatch(/gh release create .* --draft --verify-tag/);
    expect(commands).toContain('sha256sum');
    expect(commands).toContain('--sbom-format cyclonedx');
    expect(steps.some(({ uses }) => uses?.startsWith('actions/attest-build-provenance@'))).toBe(true);
  });

  it.skipIf(process.platform === 'win32')('has the notes of its version, and fails without', async () => {
    const command = /^awk [^]*?notes\.md\n.*notes\.md$/m.exec(commands)?.[0] ?? '';
    expect(command).toContain('CHANGELOG.md');
    const folder = mkdtempSync(join(tmpdir(), 'notes-'));
    const notes = async (tag: string): Promise<string | null> => {
      const script = command
        .replaceAll('notes.md', join(folder, 'notes.md'))
        .replaceAll('CHANGELOG.md', join(root, 'CHANGELOG.md'));
      const { failed } = await execa('bash', ['-e', '-c', script], {
        env: { GITHUB_REF_NAME: tag },
        reject: false,
      });
      return failed ? null : readFileSync(join(folder, 'notes.md'), 'utf8');
    };
    expect(await notes('v0.1.0')).toMatch(/^## \[0\.1\.0\]/);
    expect(await notes('v0.1.0')).not.toContain('Unreleased');
    expect(await notes('v7.7.7')).toBeNull();
    rmSync(folder, { recursive: true });
  });
});
