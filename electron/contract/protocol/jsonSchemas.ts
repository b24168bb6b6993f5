import { z } from 'zod';
import { loadFailureCodeSchema, noGpuCodeSchema, readingCodeSchema, saidSchema } from '../problems.ts';
import { monitorEventSchema, probeResultSchema } from './devices.ts';
import { inspectedFileSchema, prepareCommandSchema, prepareEventSchema } from './prepare.ts';
import { partFailedSchema, workerCommandSchema, workerEventSchema } from './worker.ts';

/** Every message of the line protocol as a JSON Schema, by its file name in python-backend/schemas. */
export function protocolJsonSchemas(): Record<string, z.core.JSONSchema.BaseSchema> {
  const schemas = {
    'worker-command': workerCommandSchema,
    'worker-event': workerEventSchema,
    'prepare-command': prepareCommandSchema,
    'prepare-event': prepareEventSchema,
    problem: saidSchema,
    'inspected-file': inspectedFileSchema,
    'probe-result': probeResultSchema,
    'monitor-event': monitorEventSchema,
  };
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, z.toJSONSchema(schema)]));
}

export const PYTHON_CODES = 'src/virnucpro_backend/problem_codes.py';

/** The codes of problems as a module of the Python side, for its type checker. */
export const pythonProblemCodes =
  (): string => `"""Written by "npm run export-schemas": the codes of electron/contract/problems.ts."""

from typing import Literal

${literal('ProblemCode', readingCodeSchema.options)}
${literal('PartFailureCode', partFailedSchema.shape.code.options)}
${literal('LoadFailureCode', loadFailureCodeSchema.options)}
${literal('NoGpuCode', noGpuCodeSchema.options)}`;

const literal = (name: string, codes: readonly string[]): string =>
  `${name} = Literal[\n${codes.map((code) => `    "${code}",\n`).join('')}]\n`;
