import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { parse } from 'csv-parse';
import { AppFailure, appFailure } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';

/** Limits the unpacked table: a small compressed file can unpack to any size. */
const MOST_BYTES = 2 ** 29;
const MOST_LINES = 5_000_000;
const LONGEST_LINE = 2 ** 20;
const NEW_LINE = 10;

/** Opening a pipe would wait for a writer for ever. Windows has no such flag. */
const { O_NONBLOCK = 0 } = constants as Partial<typeof constants>;

/**
 * Yields the lines of a table separated by tabs, commas or semicolons, its heading first. Rejects with
 * AppFailure if the file is not such a table.
 */
export async function* tableRows(path: string, signal?: AbortSignal): AsyncGenerator<string[], undefined> {
  const file = basename(path);
  const bytes = unpackedBytes(path, file);
  try {
    const begin = await firstLine(bytes, file);
    const delimiter = separatorIn(begin.toString('utf8'), file);
    const parser = parse({
      delimiter,
      bom: true,
      // Tables of command line tools are not quoted; those of spreadsheets are.
      quote: delimiter === '\t' ? null : '"',
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: LONGEST_LINE,
    });
    pipeline(Readable.from(joined(begin, bytes)), parser, () => undefined);
    let lines = 0;
    for await (const row of parser as AsyncIterable<string[]>) {
      signal?.throwIfAborted();
      if (++lines > MOST_LINES) throw noTable(file, 'It has more than five million lines.');
      yield row;
    }
  } catch (error) {
    if (error instanceof AppFailure || signal?.aborted === true) throw error;
    throw noTable(file, error instanceof Error ? error.message : String(error));
  } finally {
    await bytes.return(undefined);
  }
}

async function* unpackedBytes(path: string, file: string): AsyncGenerator<Buffer, undefined> {
  const handle = await open(path, constants.O_RDONLY | O_NONBLOCK);
  if (!(await handle.stat()).isFile()) {
    await handle.close();
    throw noTable(file, 'It is not an ordinary file.');
  }
  const stored = handle.createReadStream();
  const source = path.toLowerCase().endsWith('.gz')
    ? pipeline(stored, createGunzip(), () => undefined)
    : stored;
  let bytes = 0;
  for await (const data of source) {
    const block = data as Buffer;
    bytes += block.length;
    if (bytes > MOST_BYTES) throw noTable(file, 'Unpacked, it has more than 512 MB.');
    yield block;
  }
}

/** Collects what is read until the first line is complete. */
async function firstLine(bytes: AsyncGenerator<Buffer, undefined>, file: string): Promise<Buffer> {
  let begin = Buffer.alloc(0);
  for (let next = await bytes.next(); next.done !== true; next = await bytes.next()) {
    begin = Buffer.concat([begin, next.value]);
    if (begin.includes(NEW_LINE)) return begin;
    if (begin.length > LONGEST_LINE) throw noTable(file, 'Its first line has more than a million letters.');
  }
  return begin;
}

async function* joined(begin: Buffer, rest: AsyncGenerator<Buffer, undefined>): AsyncGenerator<Buffer> {
  yield begin;
  yield* rest;
}

function separatorIn(begin: string, file: string): '\t' | ',' | ';' {
  const [line = ''] = begin.split(/\r?\n/, 1);
  if (line.startsWith('>') || line.includes('\0') || begin === '')
    throw noTable(file, 'It begins like a file of another kind.');
  // A list of names is a table with one column.
  return (['\t', ';', ','] as const).find((separator) => line.includes(separator)) ?? '\t';
}

export function noTable(file: string, detail: string): AppFailure {
  return appFailure('usage', message('table.unreadable', { file }), { detail });
}
