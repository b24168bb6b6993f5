/** The only place that reads JSON of files, databases and other processes: it is never trusted to be what it should be. */
import { z } from 'zod';
import { err, ok, type Result } from './result.ts';

/** What a text holds, or what is wrong with it. */
export function readJson<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
): Result<z.output<Schema>, string> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return err(`It is not JSON: ${String(error)}`);
  }
  const parsed = schema.safeParse(value);
  return parsed.success ? ok(parsed.data) : err(z.prettifyError(parsed.error));
}

/** What a text holds, or undefined where there is no text, it is not JSON, or not what the schema says. */
export function parseJson<Schema extends z.ZodType>(
  schema: Schema,
  text: string | undefined,
): z.output<Schema> | undefined {
  if (text === undefined) return undefined;
  const read = readJson(schema, text);
  return read.ok ? read.value : undefined;
}
