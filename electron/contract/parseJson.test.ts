import { expect, it } from 'vitest';
import { z } from 'zod';
import { parseJson, readJson } from './parseJson.ts';

const schema = z.object({ pid: z.int() });

it('reads text that matches the schema', () => {
  expect(parseJson(schema, '{"pid": 7}')).toEqual({ pid: 7 });
  expect(readJson(schema, '{"pid": 7}')).toEqual({ ok: true, value: { pid: 7 } });
});

it.each([undefined, '', '{"pid":', 'null', '{"pid": "7"}'])('returns undefined for %j', (text) => {
  expect(parseJson(schema, text)).toBeUndefined();
});

it('reports what is wrong', () => {
  expect(readJson(schema, '{"pid":')).toMatchObject({ error: expect.stringContaining('not JSON') as string });
  expect(readJson(schema, '{"pid": "7"}')).toMatchObject({ error: expect.stringContaining('pid') as string });
});
