import { closeSync, readSync } from 'node:fs';
import { z } from 'zod';
import { appError, AppFailure } from '../../contract/errors.ts';
import { SHARES_FOLDER } from '../../contract/folderNames.ts';
import { message } from '../../contract/messages.ts';
import { readJson } from '../../contract/parseJson.ts';
import { planSchema, type Plan } from '../../contract/plan.ts';
import { countSchema, partKeySchema, sha256Schema } from '../../contract/protocol/common.ts';
import { prepareDoneSchema, type PrepareDone } from '../../contract/protocol/index.ts';
import { openPlain, pathInRun, replaceInRun } from '../files/runFiles.ts';
import type { JsonObject } from './types.ts';

/*
 * A run can be computed by shares: share 3 of 8 has the parts whose turn leaves the remainder 2 when divided
 * by 8, that is every eighth part of each round. Each share is a run of its own below `shares/` of the run's
 * folder. It never opens the run's database, which only one computer may have open on a network disk: what it
 * needs is written beside it, in `work/shares.jsonl`.
 */

const LIST = 'work/shares.jsonl';

/** The option of a run's description with the id of the run that it is a share of. */
export const SHARE_OPTION = 'share';
/** The option with the share's name, such as `3-of-8`. */
export const SHARE_NAME_OPTION = 'shareName';

/** `index` counts from 1. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

export const MOST_SHARES = 100_000;

export const shareName = ({ index, of }: Share): string => `${index}-of-${of}`;

/** Folder of a share, below the run's. */
export const shareFolder = (share: Share): string => `${SHARES_FOLDER}/${shareName(share)}`;

/** Parses a share such as `3/8`; undefined if the text is none. */
export function parseShare(text: string): Share | undefined {
  const [, index, of] = (/^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? []).map(Number);
  if (index === undefined || of === undefined) return undefined;
  return index >= 1 && index <= of && of <= MOST_SHARES ? { index, of } : undefined;
}

export const isOfShare = ({ index, of }: Share, turn: number): boolean => turn % of === index - 1;

/**
 * A waiting part in the form of the run's database. Its rows keep their id, so that their digests stay valid.
 */
export interface SharePart {
  id: number;
  key: string;
  sha256: string;
  frameBegin: number;
  frameEnd: number;
  residues: number;
  chunks: number;
  firstRow: number;
  lastRow: number;
  round: number;
  /**
   * Its position among the parts of its round, counted from another number in each round. Halves of a part
   * share it.
   */
  turn: number;
}

/** Parts by the number of their share. */
export const partsByShare = (parts: readonly SharePart[], of: number): Map<number, SharePart[]> =>
  Map.groupBy(parts, ({ turn }) => (turn % of) + 1);

const COLUMNS = [
  'turn',
  'id',
  'frameBegin',
  'frameEnd',
  'residues',
  'chunks',
  'firstRow',
  'lastRow',
  'round',
] as const;
const partLineSchema = z
  .tuple([partKeySchema, sha256Schema], countSchema)
  .refine((columns) => columns.length === 2 + COLUMNS.length);

const headSchema = z.object({
  runId: z.uuid(),
  name: z.string(),
  plan: planSchema,
  prepared: prepareDoneSchema,
  options: z.record(z.string(), z.json()),
});

/** What a share needs to know about its run. */
export interface ShareList {
  runId: string;
  name: string;
  plan: Plan;
  prepared: PrepareDone;
  /** The options of the run's request. */
  options: JsonObject;
  /** All waiting parts. */
  parts: readonly SharePart[];
}

/** Writes into the run's folder what its shares need. The parts must be prepared. */
export function writeShareList(folder: string, { parts, ...head }: ShareList): void {
  const lines = parts.map((part) =>
    JSON.stringify([part.key, part.sha256, ...COLUMNS.map((name) => part[name])]),
  );
  replaceInRun(folder, LIST, Buffer.from(`${[JSON.stringify(head), ...lines].join('\n')}\n`));
}

/** The list, with the parts of one share. Throws AppFailure if there is none, or it is not ours. */
export function readShareList(folder: string, share: Share): ShareList {
  let head: z.output<typeof headSchema> | undefined;
  const parts: SharePart[] = [];
  for (const line of linesOf(folder)) {
    if (head === undefined) {
      const read = readJson(headSchema, line);
      if (!read.ok) throw unreadable(folder, read.error);
      head = read.value;
    } else if (isOfShare(share, Number(/^\["[\d.]+","[^"]*",(\d+)/.exec(line)?.[1]))) {
      const read = readJson(partLineSchema, line);
      if (!read.ok) throw unreadable(folder, read.error);
      parts.push(toPart(read.value));
    }
  }
  if (head === undefined) throw unreadable(folder);
  return { ...head, parts };
}

function toPart([key, sha256, ...counts]: [string, string, ...number[]]): SharePart {
  const columns = Object.fromEntries(COLUMNS.map((name, place) => [name, counts[place] ?? 0]));
  return { key, sha256, ...columns } as SharePart;
}

function* linesOf(folder: string): Generator<string> {
  let descriptor: number;
  try {
    descriptor = openPlain(pathInRun(folder, LIST), 'read');
  } catch (reason) {
    if (!(reason instanceof Error && 'code' in reason && reason.code === 'ENOENT')) throw reason;
    const nextStep = message('share.not_prepared.next');
    throw new AppFailure(
      appError('folder_not_a_run', message('share.not_prepared', { folder }), { nextStep }),
    );
  }
  try {
    const block = Buffer.alloc(1 << 20);
    let rest = '';
    for (let read = readSync(descriptor, block); read > 0; read = readSync(descriptor, block)) {
      const lines = (rest + block.toString('latin1', 0, read)).split('\n');
      rest = lines.pop() ?? '';
      // Read as single bytes, so that no character is cut in two at the end of a block.
      for (const line of lines) yield Buffer.from(line, 'latin1').toString('utf8');
    }
  } finally {
    closeSync(descriptor);
  }
}

const unreadable = (folder: string, detail?: string): AppFailure =>
  new AppFailure(appError('run_damaged', message('share.list_damaged', { folder }), { detail }));
