import { hostname } from 'node:os';
import { z } from 'zod';
import { appFailure } from '../../contract/errors.ts';
import { SHARES_FOLDER } from '../../contract/folderNames.ts';
import { message } from '../../contract/messages.ts';
import { readJson } from '../../contract/parseJson.ts';
import { planSchema } from '../../contract/plan.ts';
import { countSchema, partKeySchema, sha256Schema } from '../../contract/protocol/common.ts';
import { prepareDoneSchema } from '../../contract/protocol/index.ts';
import { pathInRun, readPlain, replaceInRun, somethingAt } from '../system/runFiles.ts';
import { runOptionsSchema, type StoredRun } from './types.ts';

/*
 * A run can be computed by shares: share 3 of 8 has the parts whose turn leaves the remainder 2 when divided
 * by 8, that is every eighth part of each round. Each share is a run of its own below `shares/` of the run's
 * folder. It never opens the run's database, which only one computer may have open on a network disk: what it
 * needs is written beside it, in `work/shares.json`.
 */

const LIST = 'work/shares.json';
/** The longest text that JavaScript can hold; two million parts are shorter. */
const LONGEST_LIST = 2 ** 29 - 25;

/** `index` counts from 1. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

export const MOST_SHARES = 100_000;
const MOST_NAMED = 20;

export const shareName = ({ index, of }: Share): string => `${index}-of-${of}`;

/** Shares for people, such as `2/3, 3/3`. */
export function listShares(shares: readonly Share[]): string {
  const named = shares.slice(0, MOST_NAMED).map(({ index, of }) => `${index}/${of}`);
  return shares.length > MOST_NAMED ? `${named.join(', ')}, ...` : named.join(', ');
}

/** Folder of a share, below the run's. */
export const shareFolder = (share: Share): string => `${SHARES_FOLDER}/${shareName(share)}`;

/** Parses a share such as `3/8`; undefined if the text is none. */
export function parseShare(text: string): Share | undefined {
  const [, index, of] = (/^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? []).map(Number);
  if (index === undefined || of === undefined) return undefined;
  return index >= 1 && index <= of && of <= MOST_SHARES ? { index, of } : undefined;
}

/** The computer on which a share is computed. One computer may compute several shares at the same time. */
export interface ShareNode {
  readonly node: string;
  /** For example `3-of-8`. */
  readonly share: string;
}

/**
 * The computer that computes a share, which is part of its devices' names; null for a run that is no share.
 */
export function nodeOf({ description }: Pick<StoredRun, 'description'>): ShareNode | null {
  const { share: run, shareName = '' } = description.options;
  return run === undefined ? null : { node: hostname(), share: shareName };
}

const partSchema = z.object({
  id: countSchema,
  key: partKeySchema,
  sha256: sha256Schema,
  frameBegin: countSchema,
  frameEnd: countSchema,
  residues: countSchema,
  chunks: countSchema,
  firstRow: countSchema,
  lastRow: countSchema,
  round: countSchema,
  /**
   * Its position among the parts of its round, counted from another number in each round. Halves of a part
   * share it.
   */
  turn: countSchema,
});
/**
 * A waiting part in the form of the run's database. Its rows keep their id, so that their digests stay valid.
 */
export type SharePart = z.infer<typeof partSchema>;

/** Parts by the number of their share. */
export const partsByShare = (parts: readonly SharePart[], of: number): Map<number, SharePart[]> =>
  Map.groupBy(parts, ({ turn }) => (turn % of) + 1);

const listSchema = z.object({
  runId: z.uuid(),
  name: z.string(),
  plan: planSchema,
  prepared: prepareDoneSchema,
  /** The options of the run's request. */
  options: runOptionsSchema,
  /** All waiting parts. */
  parts: z.array(partSchema),
});
/** What a share needs to know about its run. */
export type ShareList = z.infer<typeof listSchema>;

/** Writes into the run's folder what its shares need. The parts must be prepared. */
export function writeShareList(folder: string, list: ShareList): void {
  replaceInRun(folder, LIST, Buffer.from(JSON.stringify(list)));
}

/** The list, with the parts of one share. Throws AppFailure if there is none, or it is not ours. */
export function readShareList(folder: string, { index, of }: Share): ShareList {
  const list = readList(folder);
  return { ...list, parts: partsByShare(list.parts, of).get(index) ?? [] };
}

/** The shares of a division that still had parts to compute when the list was written. */
export const missingShares = (folder: string, of: number): Share[] =>
  [...partsByShare(readList(folder).parts, of).keys()]
    .toSorted((a, b) => a - b)
    .map((index) => ({ index, of }));

function readList(folder: string): ShareList {
  const path = pathInRun(folder, LIST);
  if (!somethingAt(path)) throw appFailure('folder_not_a_run', message('share.not_prepared', { folder }));
  const list = readJson(listSchema, readPlain(path, LONGEST_LIST)?.toString('utf8') ?? '');
  if (!list.ok)
    throw appFailure('run_damaged', message('share.list_damaged', { folder }), { detail: list.error });
  return list.value;
}
