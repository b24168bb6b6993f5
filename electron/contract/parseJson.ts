/** The only place that parses JSON from files, databases and other processes, which is never trusted. */
import { z } from 'zod';
import { err, ok, type Result } from './errors.ts';

/** Returns the parsed value, or what is wrong with the text. */
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

/**
 * Returns the parsed value, or undefined if there is no text, it is not JSON, or it does not match the
 * schema.
 */
export function parseJson<Schema extends z.ZodType>(
  schema: Schema,
  text: string | undefined,
): z.output<Schema> | undefined {
  if (text === undefined) return undefined;
  const read = readJson(schema, text);
  return read.ok ? read.value : undefined;
}
