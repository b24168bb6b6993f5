import { z } from 'zod';
import { monitorEventSchema, probeResultSchema } from './devices.ts';
import { inspectedFileSchema, prepareCommandSchema, prepareEventSchema } from './prepare.ts';
import { rayCommandSchema, rayEventSchema } from './ray.ts';
import { workerCommandSchema, workerEventSchema } from './worker.ts';

/** Every message of the line protocol as a JSON Schema, by its file name in python-backend/schemas. */
export function protocolJsonSchemas(): Record<string, z.core.JSONSchema.BaseSchema> {
  const schemas = {
    'worker-command': workerCommandSchema,
    'worker-event': workerEventSchema,
    'prepare-command': prepareCommandSchema,
    'prepare-event': prepareEventSchema,
    'ray-command': rayCommandSchema,
    'ray-event': rayEventSchema,
    'inspected-file': inspectedFileSchema,
    'probe-result': probeResultSchema,
    'monitor-event': monitorEventSchema,
  };
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, z.toJSONSchema(schema)]));
}
