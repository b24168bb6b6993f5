import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { replaceFile } from '../files/replaceFile.ts';

/** Copies a file of gigabytes; under its own name only when it is whole. One of the right size that is there already stays. */
export async function copyLargeFile(
  from: string,
  to: string,
  onBytes: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  const { size } = await stat(from);
  const there = await stat(to).catch(() => undefined);
  if (there?.size === size) {
    onBytes(size);
    return;
  }
  await mkdir(dirname(to), { recursive: true });
  const source = createReadStream(from, { highWaterMark: 2 ** 20 });
  source.on('data', (chunk) => {
    onBytes(chunk.length);
  });
  await pipeline(source, createWriteStream(`${to}.part`), { signal });
  replaceFile(`${to}.part`, to);
}
