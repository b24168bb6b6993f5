import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SafetensorsError, SafetensorsFile } from '../store/sqlite/files/safetensorsFile.ts';

const HEADER = JSON.stringify({
  score1: { dtype: 'F32', shape: [2], data_offsets: [0, 8] },
  state: { dtype: 'U8', shape: [2], data_offsets: [8, 10] },
}).padEnd(128);
const SCORES_FILE = Buffer.concat([Buffer.alloc(8), Buffer.from(HEADER), Buffer.alloc(10, 1)]);
SCORES_FILE.writeBigUInt64LE(BigInt(HEADER.length));

it('a file of scores with changed bytes, cut or not, is read or refused by name', () => {
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(changes, fc.nat(), (changed, length) => {
      const bytes = Buffer.from(SCORES_FILE);
      for (const [place, byte] of changed) bytes[place % bytes.length] = byte;
      const end = length % 2 === 0 ? bytes.length : length % bytes.length;
      try {
        const file = new SafetensorsFile(Buffer.from(bytes.subarray(0, end)));
        expect([file.f32('score1', 2).length, file.u8('state', 2).length]).toEqual([2, 2]);
      } catch (reason) {
        expect(reason).toBeInstanceOf(SafetensorsError);
      }
    }),
    { numRuns: 500 },
  );
});
