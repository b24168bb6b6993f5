import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { protocolJsonSchemas, PYTHON_CODES, pythonProblemCodes } from './jsonSchemas.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'python-backend', 'schemas');

it('the exported JSON Schemas match the contract; else run "npm run export-schemas"', () => {
  const exported = Object.fromEntries(
    readdirSync(folder).map((name): [string, unknown] => [
      name.replace('.json', ''),
      JSON.parse(readFileSync(join(folder, name), 'utf8')),
    ]),
  );
  expect(exported).toEqual(JSON.parse(JSON.stringify(protocolJsonSchemas())));
  expect(readFileSync(join(folder, '..', PYTHON_CODES), 'utf8')).toBe(pythonProblemCodes());
});
