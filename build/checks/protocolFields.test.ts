/** What Python's processes say, somebody reads: a field of the protocol that nothing asks for is taken out of it. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const SCHEMAS = globSync('python-backend/schemas/{*-event,probe-result}.json', { cwd: root });

/** Read elsewhere, or passed on as a whole. */
const READ_OTHERWISE = new Set([
  // A worker's measurement goes to the next worker as it is.
  'fixed_bytes',
  'bytes_per_token',
  // The place that prepare has reached goes to the next one as it is.
  'first_rows',
  'input_bases',
  'other_letters',
  // SLURM's pool compares those of its nodes.
  'backend_version',
]);

/** The engine and the window, without the lines that only say which fields there are. */
const READERS = globSync('{electron,renderer}/**/*.{ts,tsx}', {
  cwd: root,
  exclude: ['**/*.test.ts', '**/*.test.tsx', '**/testing/**'],
})
  .map(read)
  .join('\n')
  .replaceAll(/^ +\w+: (z|\w+Schema)\b.*$/gm, '');

function fieldsOf(schema: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(schema)) for (const each of schema) fieldsOf(each, found);
  else if (typeof schema === 'object' && schema !== null)
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'properties') for (const name of Object.keys(value as object)) found.add(name);
      fieldsOf(value, found);
    }
  return found;
}

it.each(SCHEMAS)('%s has no field that nothing reads', (file) => {
  const fields = [...fieldsOf(JSON.parse(read(file)))];
  expect(fields.length).toBeGreaterThan(5);
  const unread = fields.filter(
    (name) => !READ_OTHERWISE.has(name) && !new RegExp(`\\b${name}\\b`).test(READERS),
  );
  expect(unread).toEqual([]);
});
