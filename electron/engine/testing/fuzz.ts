import fc from 'fast-check';
import type { z } from 'zod';
import { readJson } from '../../contract/parseJson.ts';
import {
  inspectedFileSchema,
  monitorEventSchema,
  prepareEventSchema,
  probeResultSchema,
  workerEventSchema,
} from '../../contract/protocol/index.ts';
import { contract } from '../../contract/rpc/index.ts';
import { runJsonSchema } from '../exports/report/reportFacts.ts';
import { SafetensorsError, SafetensorsFile } from '../store/sqlite/files/safetensorsFile.ts';
import { LineReader } from '../workers/childProcess.ts';

const LONGEST_LINE = 64;

/** The schemas of what another process or a window may send us, by name. */
const SCHEMAS: Record<string, z.ZodType> = {
  worker: workerEventSchema,
  prepare: prepareEventSchema,
  monitor: monitorEventSchema,
  inspected: inspectedFileSchema,
  probe: probeResultSchema,
  'run.json': runJsonSchema,
  ...callSchemas(),
};

/** Keys that occur in the schemas, so that a random object passes the first of their checks. */
const KEYS = [
  'type',
  'runId',
  'part',
  'path',
  'filter',
  'sort',
  'limit',
  'offset',
  'inputs',
  'devices',
  '__proto__',
];
const WORDS = [
  'part_done',
  'hello',
  'ready',
  'part',
  'records',
  'sample',
  'done',
  'a/../b',
  '\0',
  '1e999',
  '\ud800',
];

/**
 * Tries `count` random values with every schema of the contract and of the line protocol, and as many split
 * streams with the line reader. If one throws, accepts a value that it then rejects, or loses a line, this
 * throws an error with the smallest example and its seed.
 */
export function fuzz(count: number, seed: number): { schemas: number; tried: number } {
  const options = { numRuns: count, seed };
  const word = fc.oneof(fc.constantFrom(...WORDS), fc.string({ unit: 'binary' }));
  const leaf = fc.oneof(
    word,
    fc.double(),
    fc.integer(),
    fc.bigInt().map(String),
    fc.constantFrom(null, true),
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(fc.constantFrom(...KEYS), word), tie('value'), { maxKeys: 6 }),
    ),
  }));
  const line = fc.oneof(
    { weight: 3, arbitrary: value.map((sent) => JSON.stringify(sent)) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  );
  for (const schema of Object.values(SCHEMAS)) {
    const isStable = fc.property(line, (sent) => {
      const read = readJson(schema, sent);
      if (read.ok && !schema.safeParse(read.value).success) throw new Error('refuses what it has accepted');
    });
    fc.assert(isStable, options);
  }
  const pieces = fc.array(fc.uint8Array({ maxLength: 3 * LONGEST_LINE }), { maxLength: 6 });
  fc.assert(fc.property(pieces, readsLikeSplit), options);
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
  fc.assert(fc.property(changes, fc.nat(), readsTensorsOrRefuses), options);
  const schemas = Object.keys(SCHEMAS).length;
  return { schemas, tried: count * (schemas + 2) };
}

function readsLikeSplit(pieces: Uint8Array[]): void {
  // Line ends and letters of several bytes are rare among random bytes.
  const chunks = pieces.map((piece) => Buffer.from(piece).map((byte) => (byte < 24 ? 10 : byte)));
  const lines: string[] = [];
  const reader = new LineReader(LONGEST_LINE, (line) => lines.push(line));
  for (const chunk of chunks) reader.add(Buffer.from(chunk));
  reader.end();
  const wanted = Buffer.concat(chunks).toString('utf8').split('\n');
  if (wanted.at(-1) === '') wanted.pop();
  const cut = wanted.map((line) => line.slice(0, LONGEST_LINE).replace(/\r$/, ''));
  if (JSON.stringify(lines) !== JSON.stringify(cut)) throw new Error('lines differ');
}

const HEADER = JSON.stringify({
  score1: { dtype: 'F32', shape: [2], data_offsets: [0, 8] },
  score2: { dtype: 'F32', shape: [2], data_offsets: [8, 16] },
  state: { dtype: 'U8', shape: [2], data_offsets: [16, 18] },
}).padEnd(192);
const LENGTH = Buffer.alloc(8);
LENGTH.writeBigUInt64LE(BigInt(HEADER.length));
const SCORES_FILE = Buffer.concat([LENGTH, Buffer.from(HEADER), Buffer.alloc(18, 1)]);

/** Tests a scores file with some bytes changed, most of them in its header, and truncated. */
function readsTensorsOrRefuses(changes: [number, number][], length: number): void {
  const bytes = Buffer.from(SCORES_FILE);
  for (const [place, byte] of changes) bytes[place % bytes.length] = byte;
  const end = length % 2 === 0 ? bytes.length : length % bytes.length;
  try {
    const file = new SafetensorsFile(Buffer.from(bytes.subarray(0, end)));
    const counts = [file.f32('score1', 2).length, file.f32('score2', 2).length, file.u8('state', 2).length];
    if (counts.some((count) => count !== 2)) throw new Error(`counts ${counts.join(', ')}`);
  } catch (reason) {
    if (!(reason instanceof SafetensorsError)) throw reason;
  }
}

interface WithInput {
  '~orpc': { inputSchema?: z.ZodType };
}

/** The schemas of the arguments that a window sends with each call. */
function callSchemas(): Record<string, z.ZodType> {
  const found: Record<string, z.ZodType> = {};
  for (const [group, procedures] of Object.entries(contract)) {
    for (const [name, procedure] of Object.entries(procedures)) {
      const { inputSchema } = (procedure as WithInput)['~orpc'];
      if (inputSchema) found[`${group}.${name}`] = inputSchema;
    }
  }
  return found;
}
