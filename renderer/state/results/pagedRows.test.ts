import { QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook, waitFor } from '@testing-library/react';
import { createElement, type ReactNode } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { PAGE_ROWS, rangeAround, usePagedRows } from './pagedRows.ts';
import { queryClient } from '../queryClient.ts';

const wrapper = ({ children }: { children: ReactNode }) =>
  createElement(QueryClientProvider, { client: queryClient }, children);

describe('rows by page', () => {
  it('takes whole pages, with one on either side', () => {
    expect(rangeAround(0, 30)).toEqual({ offset: 0, limit: 2 * PAGE_ROWS });
    expect(rangeAround(5 * PAGE_ROWS - 1, 5 * PAGE_ROWS)).toEqual({
      offset: 3 * PAGE_ROWS,
      limit: 4 * PAGE_ROWS,
    });
  });

  it('fetches rows that come into sight, once, and only if they stay in sight', async () => {
    const asked = vi.fn();
    const { result, rerender } = renderHook(
      ({ minScore }: { minScore: number }) =>
        usePagedRows(({ offset, limit }) => ({
          queryKey: ['rows', minScore, offset, limit],
          queryFn: () => {
            asked(offset);
            const items = Array.from({ length: limit }, (_, index) => ({ row: offset + index, minScore }));
            return Promise.resolve({ total: minScore > 0 ? 9000 : 100_000, items });
          },
        })),
      { initialProps: { minScore: 0 }, wrapper },
    );
    await waitFor(() => expect(result.current.total).toBe(100_000));
    expect(result.current.rowAt(7)?.row).toBe(7);
    expect(result.current.rowAt(50_000)).toBeUndefined();

    // A fling requests only the rows where it stops.
    act(() => {
      for (let first = 1000; first <= 50_000; first += 1000) result.current.onRangeChange(first, first + 30);
    });
    await waitFor(() => expect(result.current.rowAt(50_000)?.row).toBe(50_000));
    expect(asked.mock.calls.flat()).toEqual([0, 50_000 - PAGE_ROWS]);
    // Until the new rows have arrived, the old ones stay in their places.
    expect(result.current.rowAt(7)).toBeUndefined();

    act(() => result.current.onRangeChange(0, 30));
    await waitFor(() => expect(result.current.rowAt(7)?.row).toBe(7));
    rerender({ minScore: 0.9 });
    expect(result.current.rowAt(7)?.row).toBe(7);
    await waitFor(() => expect(result.current.total).toBe(9000));
    expect(result.current.rowAt(7)).toEqual({ row: 7, minScore: 0.9 });
  });
});
