/**
 * Checks that docs/environment-variables.md explains every environment variable that the code reads by name.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const SOURCES = [
  '{electron,renderer,build,e2e}/**/*.{ts,tsx,mjs}',
  '*.ts',
  'python-backend/{src,tests,benchmarks}/**/*.py',
  'e2e/**/*.py',
  'build/**/*.py',
];
/**
 * The ways in which the code reads a variable: `env['NAME']`, `process.env.NAME`, `environ["NAME"]`,
 * `environ.get("NAME")`.
 */
const READS = [
  /\benv\['(\w+)'\]/g,
  /\bprocess\.env\.([A-Z]\w+)/g,
  /\benviron\["(\w+)"\](?! =)/g,
  /\benviron\.(?:get|setdefault)\(\s*"(\w+)"/g,
  /\b(VIRNUCPRO_[A-Z0-9_]+)\b/g,
];

function variablesRead(): Set<string> {
  const files = SOURCES.flatMap((pattern) =>
    globSync(pattern, { cwd: root, exclude: ['**/node_modules/**', '**/environmentVariables.test.ts'] }),
  );
  return new Set(
    files.flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return READS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name));
    }),
  );
}

it('explains every variable that is read, and no VIRNUCPRO_ variable that is not', () => {
  const guide = readFileSync(join(root, 'docs', 'environment-variables.md'), 'utf8');
  const explained = new Set([...guide.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
  const read = variablesRead();
  expect(read).toContain('VIRNUCPRO_PYTHON');
  expect([...read].filter((name) => !explained.has(name)).sort(), 'not explained').toEqual([]);
  const ours = [...explained].filter((name) => name.startsWith('VIRNUCPRO_'));
  expect(
    ours.filter((name) => !read.has(name)),
    'explained, but read nowhere',
  ).toEqual([]);
});
