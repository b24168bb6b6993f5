import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSafetensors, SafetensorsError, SafetensorsFile } from './safetensorsFile.ts';
import { safetensorsBytes, writeSafetensors } from '../../testing/safetensorsWriter.ts';
import { temporaryFolder } from '../../../testing/temporaryFolder.ts';
const TENSORS = {
  rows: Uint32Array.of(1, 2, 4_000_000_000),
  offsets: BigUint64Array.of(0n, 2n ** 40n),
  scores: Float32Array.of(0.1, NaN),
  bytes: Uint8Array.of(9, 8, 7),
  halves: Uint16Array.of(0x3c00),
};

/** A safetensors file with any header text. */
function withHeader(header: string, data: number): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(header)));
  return Buffer.concat([length, Buffer.from(header), Buffer.alloc(data)]);
}

describe('safetensors files', () => {
  it('are read as they were written', () => {
    const folder = temporaryFolder();
    const sha256 = writeSafetensors(join(folder, 'x.safetensors'), TENSORS);
    const file = readSafetensors(folder, 'x.safetensors', sha256);
    expect(file.u32('rows', 3)).toEqual(TENSORS.rows);
    expect(file.u64('offsets')).toEqual(TENSORS.offsets);
    expect(file.f32('scores')).toEqual(TENSORS.scores);
    expect(file.u8('bytes')).toEqual(TENSORS.bytes);
  });

  it('are read even if their arrays are not aligned', () => {
    const text = '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"__metadata__":{"kind":"scores"}} ';
    for (const padding of ['', ' ', '  ', '   ']) {
      const bytes = withHeader(text + padding, 8);
      bytes.writeFloatLE(0.25, bytes.length - 4);
      expect(new SafetensorsFile(bytes).f32('a')).toEqual(Float32Array.of(0, 0.25));
    }
  });

  it('are refused if the hash differs', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'x.safetensors');
    const sha256 = writeSafetensors(path, TENSORS);
    appendFileSync(path, 'x');
    expect(() => readSafetensors(folder, 'x.safetensors', sha256)).toThrow('SHA-256');
  });

  it.each([
    ['cut off in the header', safetensorsBytes(TENSORS).subarray(0, 40), 'cut off'],
    ['cut off in the data', safetensorsBytes(TENSORS).subarray(0, -3), 'does not fit'],
    ['nothing at all', Buffer.alloc(0), 'cut off'],
    ['another file', Buffer.from('SQLite format 3\0'.repeat(9)), 'cut off'],
    ['a header that is not JSON', withHeader('{oops', 0), 'not JSON'],
    [
      'a type nobody knows',
      withHeader('{"a":{"dtype":"X9","shape":[1],"data_offsets":[0,1]}}', 1),
      'unknown type',
    ],
    [
      'a shape that is none',
      withHeader('{"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}}', 1),
      'malformed',
    ],
    ['an entry that is none', withHeader('{"a":null}', 0), 'unknown type'],
    [
      'sizes that disagree',
      withHeader('{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,1]}}', 1),
      'does not fit',
    ],
  ])('are refused when there is %s', (_, bytes, message) => {
    expect(() => new SafetensorsFile(bytes)).toThrow(message);
  });

  it('with changed bytes, cut or not, are read or refused by name', () => {
    const whole = safetensorsBytes({ score1: Float32Array.of(0.25, 0.5), state: Uint8Array.of(1, 1) });
    const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(changes, fc.nat(), (changed, length) => {
        const bytes = Buffer.from(whole);
        for (const [place, byte] of changed) bytes[place % bytes.length] = byte;
        const end = length % 2 === 0 ? bytes.length : length % bytes.length;
        try {
          const file = new SafetensorsFile(bytes.subarray(0, end));
          expect([file.f32('score1', 2).length, file.u8('state', 2).length]).toEqual([2, 2]);
        } catch (reason) {
          expect(reason).toBeInstanceOf(SafetensorsError);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('name the array that differs from the requested one', () => {
    const file = new SafetensorsFile(safetensorsBytes(TENSORS));
    expect(() => file.u32('missing')).toThrow('"missing" is missing');
    expect(() => file.u8('rows')).toThrow('"rows" is U32, not U8');
    expect(() => file.u32('rows', 4)).toThrow('3 elements, not 4');
  });
});
