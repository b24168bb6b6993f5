import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useStore } from 'zustand';
import { toShownError, type ShownError } from '../api/callError.ts';
import type { EngineClient } from '../api/engineClient.ts';
import { connectionStore } from './connection.ts';

export const PAGE_ROWS = 200;
/** Pages kept: what was scrolled past long ago is asked for again. */
const MOST_PAGES = 60;
/** A page has to stay in sight this long before it is asked for, so that a fling past a thousand pages asks for few. */
const SETTLE_MS = 60;

interface Page<Row> {
  readonly total: number;
  readonly items: readonly Row[];
}
type AskPage<Row> = (
  client: EngineClient,
  range: { offset: number; limit: number },
  signal: AbortSignal,
) => Promise<Page<Row>>;

export interface PagedRows<Row> {
  /** Null until the first page is there. */
  readonly total: number | null;
  readonly error: ShownError | null;
  readonly rowAt: (index: number) => Row | undefined;
  readonly onRangeChange: (first: number, last: number) => void;
  readonly reload: () => void;
}

export function pagesBetween(first: number, last: number): number[] {
  const from = Math.floor(first / PAGE_ROWS);
  const to = Math.floor(last / PAGE_ROWS);
  return Array.from({ length: to - from + 1 }, (_, step) => from + step);
}

/**
 * A list of the engine's, fetched a page at a time as it comes into sight. `key` names the list: with a new key, such as
 * another filter, the old rows stay until the first new page is there.
 */
export function usePagedRows<Row>(key: string, ask: AskPage<Row>): PagedRows<Row> {
  const client = useStore(connectionStore, (state) => (state.status === 'connected' ? state.client : null));
  const [list, setList] = useState<{
    total: number | null;
    pages: ReadonlyMap<number, readonly Row[]>;
    error: ShownError | null;
  }>({ total: null, pages: new Map(), error: null });
  const [round, setRound] = useState(0);
  const latestAsk = useRef(ask);
  const range = useRef<[first: number, last: number]>([0, 0]);
  const loader = useRef<((pages: readonly number[]) => void) | null>(null);
  const settle = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    latestAsk.current = ask;
  });

  useEffect(() => {
    if (client === null) return undefined;
    const controller = new AbortController();
    const arrived = new Map<number, readonly Row[]>();
    const underWay = new Set<number>();
    const load = async (page: number) => {
      underWay.add(page);
      try {
        const request = { offset: page * PAGE_ROWS, limit: PAGE_ROWS };
        const { total, items } = await latestAsk.current(client, request, controller.signal);
        if (controller.signal.aborted) return;
        arrived.set(page, items);
        const inSight = pagesBetween(...range.current);
        for (const old of arrived.keys()) {
          if (arrived.size <= MOST_PAGES) break;
          if (!inSight.includes(old)) arrived.delete(old);
        }
        setList({ total, pages: new Map(arrived), error: null });
      } catch (reason) {
        const error = toShownError(reason);
        if (!controller.signal.aborted && error.code !== 'connection_lost')
          setList((before) => ({ ...before, error }));
      } finally {
        underWay.delete(page);
      }
    };
    loader.current = (pages) => {
      for (const page of pages) if (!arrived.has(page) && !underWay.has(page)) void load(page);
    };
    loader.current(pagesBetween(...range.current));
    return () => {
      controller.abort();
      clearTimeout(settle.current);
      loader.current = null;
    };
  }, [key, client, round]);

  const onRangeChange = useCallback((first: number, last: number) => {
    range.current = [first, last];
    clearTimeout(settle.current);
    settle.current = setTimeout(() => loader.current?.(pagesBetween(first, last)), SETTLE_MS);
  }, []);
  const { pages } = list;
  const rowAt = useCallback(
    (index: number) => pages.get(Math.floor(index / PAGE_ROWS))?.[index % PAGE_ROWS],
    [pages],
  );
  const reload = useCallback(() => setRound((n) => n + 1), []);
  return useMemo(
    () => ({ total: list.total, error: list.error, rowAt, onRangeChange, reload }),
    [list.total, list.error, rowAt, onRangeChange, reload],
  );
}
