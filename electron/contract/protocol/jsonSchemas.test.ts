import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { protocolJsonSchemas, PYTHON_CODES, pythonProblemCodes } from './jsonSchemas.ts';
import { prepareCommandSchema, prepareEventSchema } from './prepare.ts';
import { workerCommandSchema, workerEventSchema } from './worker.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'python-backend', 'schemas');

describe('the exported JSON Schemas', () => {
  it('match the contract; else run "npm run export-schemas"', () => {
    const exported = Object.fromEntries(
      readdirSync(folder).map((name): [string, unknown] => [
        name.replace('.json', ''),
        JSON.parse(readFileSync(join(folder, name), 'utf8')),
      ]),
    );
    expect(exported).toEqual(JSON.parse(JSON.stringify(protocolJsonSchemas())));
    expect(readFileSync(join(folder, '..', PYTHON_CODES), 'utf8')).toBe(pythonProblemCodes());
  });

  it('contain exactly the messages of the protocol', () => {
    const types = (schema: { options: readonly { shape: { type: { value: string } } }[] }): string[] =>
      schema.options.map((option) => option.shape.type.value);
    expect(types(workerCommandSchema)).toEqual(['load', 'part', 'recall', 'stop']);
    expect(types(workerEventSchema)).toEqual([
      'hello',
      'ready',
      'load_failed',
      'progress',
      'part_done',
      'part_failed',
      'oom',
      'heartbeat',
      'log',
      'bye',
    ]);
    expect(prepareCommandSchema.shape.type.value).toBe('prepare');
    expect(types(prepareEventSchema)).toEqual([
      'hello',
      'progress',
      'records',
      'part',
      'input_problem',
      'input_done',
      'done',
      'prepare_failed',
    ]);
  });
});
