import { act, renderHook, waitFor } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { createMemoryEngine } from '../testing/memoryEngine/index.ts';
import { RUN_IDS } from '../testing/memoryEngine/runs.ts';
import { memoryTransport } from '../testing/memoryLink.ts';
import { connectionStore, startConnection } from './connection.ts';
import { PAGE_ROWS, pagesBetween, usePagedRows } from './pagedRows.ts';

describe('rows by the page', () => {
  it('names the pages of a range', () => {
    expect(pagesBetween(0, PAGE_ROWS - 1)).toEqual([0]);
    expect(pagesBetween(PAGE_ROWS - 1, PAGE_ROWS)).toEqual([0, 1]);
  });

  it('fetches what comes into sight, once, and only what stays in sight', async () => {
    const close = startConnection(memoryTransport(createMemoryEngine({ sequences: 100_000 })));
    await waitFor(() => expect(connectionStore.getState().status).toBe('connected'));
    const asked = vi.fn();
    const { result, rerender } = renderHook(
      ({ minScore }: { minScore: number }) =>
        usePagedRows(`rows:${minScore}`, (client, range, signal) => {
          asked(range.offset);
          return client.results.page(
            { runId: RUN_IDS.done, filter: minScore > 0 ? { minScore } : {}, ...range },
            { signal },
          );
        }),
      { initialProps: { minScore: 0 } },
    );
    await waitFor(() => expect(result.current.total).toBe(100_000));
    expect(result.current.rowAt(7)?.row).toBe(7);
    expect(result.current.rowAt(50_000)).toBeUndefined();

    // A fling: only where it comes to rest is asked for.
    act(() => {
      for (let first = 1000; first <= 50_000; first += 1000) result.current.onRangeChange(first, first + 30);
    });
    await waitFor(() => expect(result.current.rowAt(50_000)?.row).toBe(50_000));
    expect(asked.mock.calls.flat()).toEqual([0, 50_000]);

    act(() => result.current.onRangeChange(0, 30));
    rerender({ minScore: 0.9 });
    expect(result.current.rowAt(7)?.row).toBe(7);
    await waitFor(() => expect(result.current.total).toBeLessThan(100_000));
    expect(result.current.rowAt(7)?.virusScore).toBeGreaterThanOrEqual(0.9);
    close();
  });
});
