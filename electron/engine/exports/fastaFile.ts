import { closeSync, createReadStream, openSync, readSync } from 'node:fs';

const NEW_LINE = 10;
const BEGIN = 62; // ">"

/** The start of every record in a FASTA file, and the file's end: one more number than there are records. */
async function recordOffsets(path: string): Promise<number[]> {
  const offsets: number[] = [];
  let position = 0;
  let atLineStart = true;
  for await (const data of createReadStream(path, { highWaterMark: 1 << 20 })) {
    const block = data as Buffer;
    if (atLineStart && block[0] === BEGIN) offsets.push(position);
    for (let at = block.indexOf(NEW_LINE); at !== -1; at = block.indexOf(NEW_LINE, at + 1))
      if (block[at + 1] === BEGIN) offsets.push(position + at + 1);
    atLineStart = block[block.length - 1] === NEW_LINE;
    position += block.length;
  }
  offsets.push(position);
  return offsets;
}

/** A FASTA file whose records are read by number. */
export class FastaFile {
  readonly records: number;
  private readonly descriptor: number;
  private readonly offsets: readonly number[];

  private constructor(descriptor: number, offsets: readonly number[]) {
    this.descriptor = descriptor;
    this.offsets = offsets;
    this.records = offsets.length - 1;
  }

  static async open(path: string): Promise<FastaFile> {
    const offsets = await recordOffsets(path);
    return new FastaFile(openSync(path, 'r'), offsets);
  }

  /** The unchanged record, with header line and line breaks. */
  read(record: number): Buffer {
    const begin = this.offsets[record]!;
    const bytes = Buffer.allocUnsafe(this.offsets[record + 1]! - begin);
    for (let done = 0; done < bytes.length;) {
      const count = readSync(this.descriptor, bytes, done, bytes.length - done, begin + done);
      if (count === 0) throw new Error('A FASTA file became shorter while it was read.');
      done += count;
    }
    return bytes;
  }

  close(): void {
    closeSync(this.descriptor);
  }
}

/** The header line of a record without its '>', and where the letters begin. */
export function headerOf(record: Buffer): { header: string; end: number } {
  const end = record.indexOf(NEW_LINE);
  const stop = end === -1 ? record.length : end;
  return { header: record.toString('utf8', 1, stop), end: stop };
}

/** The letters of a record, upper-case, without line breaks. */
export function lettersOf(record: Buffer): string {
  return record.toString('latin1', headerOf(record).end).replaceAll('\n', '').toUpperCase();
}
