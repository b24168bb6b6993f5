import { mkdirSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type Database from 'better-sqlite3';
import type { SequenceResult } from '../../../../contract/results.ts';
import { readInputs, readPlan } from '../runRows.ts';
import { float32Text } from '../../../results/float32Text.ts';
import { cellText, inputLabels } from './inputLabels.ts';
import { TableFile } from '../files/tableFile.ts';
import { TABLE_HEADERS } from './tableRows.ts';
import { eachSequence } from './sequenceQueries.ts';
import type { SequenceSelection } from './sequenceFilter.ts';

export interface TableExport {
  selection: SequenceSelection;
  format: 'tsv' | 'csv';
  /** A byte-order mark, by which spreadsheets recognise UTF-8. */
  byteOrderMark: boolean;
  path: string;
}

export interface WrittenExport {
  sequences: number;
  bytes: number;
}

const BYTE_ORDER_MARK = '\uFEFF';

/** Writes the selected sequences with the columns of sequences.tsv. */
export function exportTable(db: Database.Database, request: TableExport): WrittenExport {
  const { path, format } = request;
  mkdirSync(dirname(path), { recursive: true });
  const { model } = readPlan(db);
  const inputs = inputLabels(readInputs(db).map((input) => input.path));
  const modelLabel = cellText(model.notice === null ? model.name : `${model.name} (${model.notice})`);
  const line = format === 'csv' ? csvLine : tsvLine;
  const table = new TableFile(dirname(path), basename(path));
  let sequences = 0;
  try {
    if (request.byteOrderMark) table.write(BYTE_ORDER_MARK);
    table.write(line(TABLE_HEADERS.sequences.trimEnd().split('\t')));
    for (const sequence of eachSequence(db, request.selection)) {
      table.write(line(cells(sequence, inputs[sequence.input] ?? 'NA', modelLabel)));
      sequences += 1;
    }
    table.finish();
    table.publish();
  } catch (reason) {
    table.discard();
    throw reason;
  }
  return { sequences, bytes: statSync(path).size };
}

/** In the order of sequences.tsv's columns. */
function cells(sequence: SequenceResult, input: string, model: string): string[] {
  const { virusScore, viralFraction } = sequence;
  return [
    sequence.seqName,
    input,
    String(sequence.row),
    String(sequence.length),
    virusScore === null ? 'NA' : float32Text(virusScore),
    'NA',
    sequence.prediction,
    sequence.reason,
    String(sequence.nChunks),
    String(sequence.nChunksScored),
    String(sequence.nChunksViral),
    viralFraction === null ? 'NA' : float32Text(Math.fround(viralFraction)),
    String(sequence.bestChunkStart ?? 'NA'),
    String(sequence.bestChunkEnd ?? 'NA'),
    sequence.bestFrame ?? 'NA',
    String(sequence.nFramesScored),
    model,
    'NA',
  ];
}

function tsvLine(values: readonly string[]): string {
  return `${values.join('\t')}\n`;
}

function csvLine(values: readonly string[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

/** As in RFC 4180. A spreadsheet would run a cell that begins like a formula; an apostrophe before it makes it text. */
export function csvCell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) && !isNumber(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

function isNumber(text: string): boolean {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
}
