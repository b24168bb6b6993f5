import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export type Tensor = Uint8Array | Uint16Array | Uint32Array | BigUint64Array | Float32Array;

/**
 * Writes arrays as a safetensors file, wide types first; returns its SHA-256. Uint16Array stands for half
 * precision.
 */
export function writeSafetensors(path: string, tensors: Record<string, Tensor>): string {
  const bytes = safetensorsBytes(tensors);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  return createHash('sha256').update(bytes).digest('hex');
}

export function safetensorsBytes(tensors: Record<string, Tensor>): Buffer {
  const ordered = Object.entries(tensors).sort(([, a], [, b]) => b.BYTES_PER_ELEMENT - a.BYTES_PER_ELEMENT);
  const header: Record<string, unknown> = {};
  let end = 0;
  for (const [name, tensor] of ordered) {
    const begin = end;
    end += tensor.byteLength;
    header[name] = { dtype: dtypeOf(tensor), shape: [tensor.length], data_offsets: [begin, end] };
  }
  let text = JSON.stringify(header);
  text += ' '.repeat((8 - (text.length % 8)) % 8);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const data = ordered.map(([, { buffer, byteOffset, byteLength }]) =>
    Buffer.from(buffer, byteOffset, byteLength),
  );
  return Buffer.concat([length, Buffer.from(text, 'ascii'), ...data]);
}

function dtypeOf(tensor: Tensor): string {
  if (tensor instanceof Uint8Array) return 'U8';
  if (tensor instanceof Uint16Array) return 'F16';
  if (tensor instanceof Uint32Array) return 'U32';
  if (tensor instanceof BigUint64Array) return 'U64';
  return 'F32';
}
