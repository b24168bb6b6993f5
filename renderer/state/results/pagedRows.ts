import { useDebouncedCallback } from '@mantine/hooks';
import { keepPreviousData, useQuery, type QueryFunctionContext, type QueryKey } from '@tanstack/react-query';
import { useCallback, useState } from 'react';

export const PAGE_ROWS = 100;
/** Rows have to stay in sight this long before they are requested, so that a fling past thousands requests only a few. */
const SCROLL_REST_MS = 60;
const KEPT_MS = 60_000;

interface Range {
  readonly offset: number;
  readonly limit: number;
}

interface Page<Row> {
  readonly total: number;
  readonly items: readonly Row[];
}

interface PageQuery<Key extends QueryKey, Row> {
  readonly queryKey: Key;
  readonly queryFn: (context: QueryFunctionContext<Key>) => Promise<Page<Row>> | Page<Row>;
  readonly refetchInterval?: number | false;
}

interface PagedRows<Row> {
  /** Null until the first rows have arrived. */
  readonly total: number | null;
  readonly error: Error | null;
  readonly rowAt: (index: number) => Row | undefined;
  readonly onRangeChange: (first: number, last: number) => void;
}

/** Whole pages around the rows in sight, with one more on either side, so that slow scrolling meets no gap. */
export function rangeAround(first: number, last: number): Range {
  const from = Math.max(0, Math.floor(first / PAGE_ROWS) - 1);
  const to = Math.floor(last / PAGE_ROWS) + 1;
  return { offset: from * PAGE_ROWS, limit: (to - from + 1) * PAGE_ROWS };
}

/**
 * A list from the engine, fetched around the rows in sight. When the list changes, for example by a filter, the old rows
 * stay until the new ones have arrived.
 */
export function usePagedRows<Key extends QueryKey, Row>(
  pageQuery: (range: Range) => PageQuery<Key, Row>,
): PagedRows<Row> {
  const [range, setRange] = useState(() => rangeAround(0, 0));
  const query = pageQuery(range);
  const { data, error } = useQuery({
    ...query,
    // Old rows shown in place of new ones need the offset at which they were fetched.
    queryFn: async (context) => ({ ...(await query.queryFn(context)), offset: range.offset }),
    placeholderData: keepPreviousData,
    gcTime: KEPT_MS,
  });
  const onRangeChange = useDebouncedCallback((first: number, last: number) => {
    const next = rangeAround(first, last);
    setRange((before) => (before.offset === next.offset && before.limit === next.limit ? before : next));
  }, SCROLL_REST_MS);
  const rowAt = useCallback((index: number) => data?.items[index - data.offset], [data]);
  return { total: data?.total ?? null, error, rowAt, onRangeChange };
}
