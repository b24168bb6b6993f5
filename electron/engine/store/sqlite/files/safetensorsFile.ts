import { createHash } from 'node:crypto';
import { endianness } from 'node:os';
import { pathInRun, readPlain } from '../../../system/runFiles.ts';
import { z } from 'zod';
import { parseJson } from '../../../../contract/parseJson.ts';

const ELEMENT_BYTES = { U8: 1, F16: 2, U32: 4, F32: 4, U64: 8 } as const;
type Dtype = keyof typeof ELEMENT_BYTES;

interface TensorEntry {
  dtype: Dtype;
  elements: number;
  begin: number;
  end: number;
}

/** A file with invalid content; the message says what is wrong. */
export class SafetensorsError extends Error {
  override readonly name = 'SafetensorsError';
}

/**
 * Tensors of a safetensors file held in memory. Views share its bytes; shapes are not kept, only element
 * counts.
 */
export class SafetensorsFile {
  readonly #bytes: Buffer;
  readonly #dataStart: number;
  readonly #entries: Map<string, TensorEntry>;

  constructor(bytes: Buffer) {
    if (endianness() !== 'LE')
      throw new SafetensorsError('Tensors can only be read on little-endian machines');
    this.#bytes = bytes;
    const headerLength = bytes.length >= 8 ? bytes.readBigUInt64LE(0) : -1n;
    if (headerLength < 2n || headerLength > BigInt(bytes.length - 8))
      throw new SafetensorsError('the file is cut off or not a safetensors file');
    this.#dataStart = 8 + Number(headerLength);
    this.#entries = parseHeader(bytes.toString('utf8', 8, this.#dataStart), bytes.length - this.#dataStart);
  }

  u8(name: string, elements?: number): Uint8Array {
    const { buffer, byteOffset, length } = this.#slice(name, 'U8', elements);
    return new Uint8Array(buffer, byteOffset, length);
  }

  u32(name: string, elements?: number): Uint32Array {
    const { buffer, byteOffset, byteLength } = this.#slice(name, 'U32', elements);
    return new Uint32Array(buffer, byteOffset, byteLength / 4);
  }

  u64(name: string, elements?: number): BigUint64Array {
    const { buffer, byteOffset, byteLength } = this.#slice(name, 'U64', elements);
    return new BigUint64Array(buffer, byteOffset, byteLength / 8);
  }

  f32(name: string, elements?: number): Float32Array {
    const { buffer, byteOffset, byteLength } = this.#slice(name, 'F32', elements);
    return new Float32Array(buffer, byteOffset, byteLength / 4);
  }

  #slice(name: string, dtype: Dtype, elements?: number): Buffer {
    const entry = this.#entries.get(name);
    if (!entry) throw new SafetensorsError(`array "${name}" is missing`);
    if (entry.dtype !== dtype) throw new SafetensorsError(`array "${name}" is ${entry.dtype}, not ${dtype}`);
    if (elements !== undefined && entry.elements !== elements)
      throw new SafetensorsError(`array "${name}" has ${entry.elements} elements, not ${elements}`);
    const slice = this.#bytes.subarray(this.#dataStart + entry.begin, this.#dataStart + entry.end);
    // Typed arrays must begin at a multiple of their element size, which a copy does.
    return slice.byteOffset % ELEMENT_BYTES[dtype] === 0 ? slice : Buffer.from(new Uint8Array(slice).buffer);
  }
}

/** Many times the size of the largest part, or of one file's records. */
export const MOST_BYTES = 2 ** 30;

/**
 * Reads a whole file of a run's folder after checking its hash. Throws SafetensorsError if its content is
 * wrong, AppFailure if it is no regular file of the folder, and the error of `fs` if it can't be read.
 */
export function readSafetensors(folder: string, name: string, sha256: string): SafetensorsFile {
  const bytes = readPlain(pathInRun(folder, name), MOST_BYTES);
  if (bytes === null) throw new SafetensorsError('it is far larger than such a file');
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== sha256) throw new SafetensorsError(`its SHA-256 is ${found}, not ${sha256}`);
  return new SafetensorsFile(bytes);
}

function parseHeader(text: string, dataBytes: number): Map<string, TensorEntry> {
  const header = parseJson(z.record(z.string(), z.unknown()), text);
  if (header === undefined) throw new SafetensorsError('its header is not JSON');
  const entries = new Map<string, TensorEntry>();
  for (const [name, value] of Object.entries(header)) {
    if (name !== '__metadata__') entries.set(name, parseEntry(name, value, dataBytes));
  }
  return entries;
}

function parseEntry(name: string, value: unknown, dataBytes: number): TensorEntry {
  const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Record<string, unknown>;
  if (!isDtype(dtype)) throw new SafetensorsError(`array "${name}" has an unknown type`);
  if (!isCountList(shape) || !isCountList(offsets) || offsets.length !== 2)
    throw new SafetensorsError(`the header's entry of "${name}" is malformed`);
  const [begin, end] = offsets as [number, number];
  const elements = shape.reduce((product, size) => product * size, 1);
  if (end > dataBytes || end - begin !== elements * ELEMENT_BYTES[dtype])
    throw new SafetensorsError(`array "${name}" does not fit into the file`);
  return { dtype, elements, begin, end };
}

function isDtype(value: unknown): value is Dtype {
  return typeof value === 'string' && Object.hasOwn(ELEMENT_BYTES, value);
}

function isCountList(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0);
}

export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}
