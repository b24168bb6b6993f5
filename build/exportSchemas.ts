/** Writes the line protocol's zod schemas as JSON Schema, for the tests of the Python side. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { protocolJsonSchemas } from '../electron/contract/protocol/jsonSchemas.ts';

const folder = join(import.meta.dirname, '..', 'python-backend', 'schemas');
mkdirSync(folder, { recursive: true });
for (const [name, schema] of Object.entries(protocolJsonSchemas())) {
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(schema, null, 2)}\n`);
}
