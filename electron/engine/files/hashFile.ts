import { createHash } from 'node:crypto';
import { read } from 'node:fs';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';

const BLOCK_BYTES = 2 ** 20;
const readBlock = promisify(read);

/** SHA-256 of a file's bytes as they lie on disk, in hex. `onBytes` hears how many more were read. */
export async function hashFile(
  path: string,
  onBytes: (bytes: number) => void = () => undefined,
  signal?: AbortSignal,
): Promise<string> {
  const file = await open(path);
  try {
    return await hashDescriptor(file.fd, onBytes, signal);
  } finally {
    await file.close();
  }
}

/** The same of an open file, from where it is being read to its end. All of it goes through one block: of a stream's many, V8 lets 80 MB
 * gather before it looks which are still in use. */
export async function hashDescriptor(
  descriptor: number,
  onBytes: (bytes: number) => void = () => undefined,
  signal?: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256');
  const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await readBlock(descriptor, block, 0, block.length, null);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(block.subarray(0, bytesRead));
    onBytes(bytesRead);
  }
}
