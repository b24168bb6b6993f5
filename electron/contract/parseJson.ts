import type { z } from 'zod';

/** What a text holds, or undefined where it is no JSON or something else than expected. */
export function parseJson<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
): z.output<Schema> | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
