import type { ComparedList, ComparedSequence, RunComparison } from '../../../contract/rpc/results.ts';
import type { RunStore } from '../../store/runStore.ts';
import { shortlistOf } from '../../store/shortlist.ts';
import { compareRuns } from './compareRuns.ts';

/** The rows of a list in either run, in the order of the first. */
interface Rows {
  readonly first: number[];
  readonly second: number[];
}

type Lists = Readonly<Record<ComparedList, Rows>>;

async function compare(
  first: RunStore,
  second: RunStore,
): Promise<{ comparison: Awaited<ReturnType<typeof compareRuns>>; lists: Lists }> {
  const lists: Lists = { changed: { first: [], second: [] }, shortlisted: { first: [], second: [] } };
  const [marked, otherMarked] = [new Set(shortlistOf(first.folder)), new Set(shortlistOf(second.folder))];
  const isShortlisted = (row: number, other: number) => marked.has(row) || otherMarked.has(other);
  const list = (rows: Rows, one: { first: { row: number }; second: { row: number } }) => {
    rows.first.push(one.first.row);
    rows.second.push(one.second.row);
  };
  const comparison = await compareRuns(
    first,
    second,
    (one) => {
      if (one.first.prediction !== one.second.prediction) list(lists.changed, one);
      if (isShortlisted(one.first.row, one.second.row)) list(lists.shortlisted, one);
    },
    isShortlisted,
  );
  return { comparison, lists };
}

async function sequencesOf(store: RunStore, rows: readonly number[]) {
  const sequences = await store.sequencesOf(Uint32Array.from(rows));
  const ribbons = await store.ribbonsOf(sequences.map(({ row, nChunks }) => ({ row, nChunks })));
  return sequences.map((sequence, i) => ({ ...sequence, ribbon: ribbons[i] ?? [] }));
}

/**
 * Compares runs and lists sequences of both page by page. The lists of the last comparison are kept, since
 * making them means reading both runs whole.
 */
export class ComparisonPages {
  #last: { folders: readonly [string, string]; lists: Lists } | null = null;

  async compare(first: RunStore, second: RunStore): Promise<RunComparison> {
    const { comparison, lists } = await this.#renew(first, second);
    return { ...comparison, shortlisted: lists.shortlisted.first.length };
  }

  async page(
    first: RunStore,
    second: RunStore,
    { list, offset, limit }: { list: ComparedList; offset: number; limit: number },
  ): Promise<{ total: number; items: ComparedSequence[] }> {
    const lists = this.#listsOf(first, second) ?? (await this.#renew(first, second)).lists;
    const rows = lists[list];
    const [ones, others] = await Promise.all([
      sequencesOf(first, rows.first.slice(offset, offset + limit)),
      sequencesOf(second, rows.second.slice(offset, offset + limit)),
    ]);
    const items = ones.flatMap((one, i) => {
      const other = others[i];
      return other ? [{ seqName: one.seqName, length: one.length, first: one, second: other }] : [];
    });
    return { total: rows.first.length, items };
  }

  #listsOf(first: RunStore, second: RunStore): Lists | undefined {
    const [one, other] = this.#last?.folders ?? [];
    return one === first.folder && other === second.folder ? this.#last?.lists : undefined;
  }

  /** Returns its own lists: meanwhile another window may have compared other runs. */
  async #renew(first: RunStore, second: RunStore): ReturnType<typeof compare> {
    const found = await compare(first, second);
    this.#last = { folders: [first.folder, second.folder], lists: found.lists };
    return found;
  }
}
