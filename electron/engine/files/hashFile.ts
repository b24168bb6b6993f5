import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** SHA-256 of a file's bytes as they lie on disk, in hex. `onBytes` hears how many more were read. */
export async function hashFile(
  path: string,
  onBytes: (bytes: number) => void = () => undefined,
  signal?: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256');
  const source = createReadStream(path, { highWaterMark: 2 ** 20 });
  source.on('data', (chunk) => {
    onBytes(chunk.length);
  });
  await pipeline(source, hash, { signal });
  return hash.digest('hex');
}
