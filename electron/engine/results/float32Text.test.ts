import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { float32Text } from './cellText.ts';

const PYTHON = fileURLToPath(new URL('../../../python-backend/.venv/bin/python', import.meta.url));

const STR_OF_EACH = `
import sys
import numpy as np
values = np.frombuffer(sys.stdin.buffer.read(), "<f4")
sys.stdout.write("\\n".join(map(str, values)))
`;

function byNumpy(values: Float32Array): string[] {
  return execFileSync(PYTHON, ['-c', STR_OF_EACH], {
    input: Buffer.from(values.buffer, values.byteOffset, values.byteLength),
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  }).split('\n');
}

/** A fixed sequence of 32-bit words (xorshift). */
function* words(seed: number): Generator<number> {
  for (let x = seed; ;) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    yield x >>> 0;
  }
}

function sample(count: number, seed: number, make: (word: number) => number): Float32Array {
  const random = words(seed);
  return Float32Array.from({ length: count }, () => make(random.next().value as number));
}

function fromBits(bits: number[]): Float32Array {
  return new Float32Array(Uint32Array.from(bits).buffer);
}

/**
 * Tries one digit, two digits and so on; does not handle powers of two, whose neighbours are not equally far
 * away.
 */
function bySearch(value: number): string {
  const digits = Array.from({ length: 9 }, (_, i) => value.toExponential(i));
  const shortest = digits.find((text) => Math.fround(Number(text)) === value) ?? '';
  if (value >= 1e-4 && value < 1e6) {
    const places = Math.max(1, (shortest.split('e')[0]?.length ?? 0) - 2 - Number(shortest.split('e')[1]));
    return Number(shortest)
      .toFixed(places)
      .replace(/(\.\d+?)0+$/, '$1');
  }
  return shortest.replace(/e([+-])(\d)$/, 'e$10$2');
}

/** Half way between two decimals NumPy rounds to even, JavaScript up. */
function liesHalfWay(value: number): boolean {
  const significant = (text: string) => text.replace(/e.*$/, '').replace('.', '').replace(/0+$/, '').length;
  return significant(value.toExponential(100)) === significant(bySearch(value).replace(/^0\.0*/, '')) + 1;
}

describe('float32 text', () => {
  it.each([
    [0, '0.0'],
    [0.0001, '1e-04'],
    [NaN, 'nan'],
    [-0, '-0.0'],
    [-0.25, '-0.25'],
    [-Infinity, '-inf'],
    [1e6, '1e+06'],
    [2 ** 19, '524288.0'],
    [2 ** -96, '1.2621775e-29'],
    [2 ** -126, '1.1754944e-38'],
    [2 ** -149, '1e-45'],
    [2 ** 127, '1.7014118e+38'],
    // Half way between two decimals: the even one.
    [0.494140625, '0.49414062'],
    [0.498046875, '0.49804688'],
  ])('writes %f as NumPy does', (value, text) => {
    expect(float32Text(Math.fround(value))).toBe(text);
  });

  it('has the fewest digits that read back, and the nearest of those', () => {
    const values = [
      ...sample(5_000, 5, (word) => word / 2 ** 32),
      ...fromBits([...sample(5_000, 6, (word) => word & 0x7fffffff)]),
      ...fromBits([...sample(500, 8, (word) => word & 0x7fffff)]),
      ...Array.from({ length: 2000 }, (_, i) => Math.fround(i * 503.7)),
    ].filter((value) => value > 0 && value < Infinity && !Number.isInteger(Math.log2(value)));
    const wrong = values.filter((value) => !liesHalfWay(value) && float32Text(value) !== bySearch(value));
    expect(wrong.map((value) => [float32Text(value), bySearch(value)])).toEqual([]);
  });

  describe.skipIf(!existsSync(PYTHON))('against NumPy (skipped without python-backend/.venv)', () => {
    const scores = sample(100_000, 1, (word) => 1 / (1 + Math.exp(-40 * (word / 2 ** 32 - 0.5))));
    const powers = Array.from({ length: 254 }, (_, exponent) => (exponent + 1) << 23);
    const cases: Record<string, Float32Array> = {
      'numbers from 0 to 1': sample(100_000, 2, (word) => word / 2 ** 32),
      'softmax of far apart logits': scores,
      'and their complements': scores.map((score) => 1 - score),
      'any bits': new Float32Array(Uint32Array.from(sample(50_000, 3, (word) => word)).buffer),
      'powers of two and their neighbours': fromBits(powers.flatMap((bits) => [bits - 1, bits, bits + 1])),
      'subnormal numbers': fromBits(Array.from(sample(5_000, 4, (word) => word & 0x7fffff))),
      'fractions that lie half way between decimals': Float32Array.from({ length: 8192 }, (_, i) => i / 8192),
      'fractions of chunks': Float32Array.from(
        { length: 2500 },
        (_, i) => (i % 50) / (1 + Math.floor(i / 50)),
      ),
      limits: Float32Array.of(1e-4, 9.9999e-5, 1.0001e-4, 999_999.94, Infinity),
    };
    it.each(Object.entries(cases))('%s', (_, all) => {
      // Scores end at 1; for large numbers, the point where NumPy switches to exponents depends on its
      // version.
      const values = all.filter((value) => !(Math.abs(value) >= 1e6 && Math.abs(value) < Infinity));
      const expected = byNumpy(values);
      const wrong = Array.from(values, (value, i) => ({
        value,
        ours: float32Text(value),
        numpy: expected[i],
      }));
      expect(wrong.filter(({ ours, numpy }) => ours !== numpy).slice(0, 10)).toEqual([]);
    });
  });
});
