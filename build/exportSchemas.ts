/** Writes the line protocol's zod schemas as JSON Schema and the codes of problems, for the Python side. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  protocolJsonSchemas,
  PYTHON_CODES,
  pythonProblemCodes,
} from '../electron/contract/protocol/jsonSchemas.ts';

const backend = join(import.meta.dirname, '..', 'python-backend');
const folder = join(backend, 'schemas');
mkdirSync(folder, { recursive: true });
for (const [name, schema] of Object.entries(protocolJsonSchemas())) {
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(schema, null, 2)}\n`);
}
writeFileSync(join(backend, PYTHON_CODES), pythonProblemCodes());
