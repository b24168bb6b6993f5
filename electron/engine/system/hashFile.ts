import { createHash } from 'node:crypto';
import { read } from 'node:fs';
import { promisify } from 'node:util';
import { answerOf, openRegular } from './regularFile.ts';

const BLOCK_BYTES = 2 ** 20;
const readBlock = promisify(read);

/**
 * SHA-256 of a file's bytes on disk, in hex. `onBytes` receives how many more were read. Rejects with
 * AppFailure for a pipe or a device, and if the disk does not respond.
 */
export async function hashFile(
  path: string,
  onBytes: (bytes: number) => void = () => undefined,
  signal?: AbortSignal,
): Promise<string> {
  const file = await openRegular(path, { signal });
  try {
    const sha256 = await hashDescriptor(file.fd, onBytes, (block) => answerOf(block, path, { signal }));
    await file.close();
    return sha256;
  } catch (reason) {
    // A disk that does not respond does not answer this call either.
    void file.close().catch(() => undefined);
    throw reason;
  }
}

/**
 * Hashes an open file from its current position to its end, while its next block is read. It reuses two
 * buffers: of the many that a stream allocates, V8 lets 80 MB accumulate before it collects those no longer
 * in use.
 */
export async function hashDescriptor(
  descriptor: number,
  onBytes: (bytes: number) => void = () => undefined,
  waitFor: <Answer>(block: Promise<Answer>) => Promise<Answer> = (block) => block,
): Promise<string> {
  const hash = createHash('sha256');
  const readInto = (block: Buffer) => readBlock(descriptor, block, 0, block.length, null);
  let spare: Buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  for (let reading = readInto(Buffer.allocUnsafeSlow(BLOCK_BYTES)); ;) {
    const { bytesRead, buffer } = await waitFor(reading);
    if (bytesRead === 0) return hash.digest('hex');
    onBytes(bytesRead);
    reading = readInto(spare);
    spare = buffer;
    hash.update(buffer.subarray(0, bytesRead));
  }
}
