import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  keepConnected,
  retryDelay,
  type ConnectionState,
  type EngineCalls,
  LinkRefused,
  type EngineLink,
  type LinkEnd,
  type Transport,
} from '../state/connection.ts';

/** A transport whose links the test opens, refuses and cuts. */
function scriptedTransport(outcomes: ('opens' | 'fails' | 'refuses')[]) {
  const links: { end: (reason: LinkEnd) => void; closed: boolean }[] = [];
  let opened = 0;
  const transport: Transport = {
    open() {
      const outcome = outcomes[opened++] ?? 'opens';
      if (outcome === 'refuses') return Promise.reject(new LinkRefused());
      if (outcome === 'fails') return Promise.reject(new Error('no answer'));
      let end: (reason: LinkEnd) => void = () => undefined;
      const ended = new Promise<LinkEnd>((resolve) => (end = resolve));
      const record = { end, closed: false };
      links.push(record);
      const link: EngineLink = { calls: {} as EngineCalls, ended, close: () => (record.closed = true) };
      return Promise.resolve(link);
    },
  };
  return { transport, links, opened: () => opened };
}

describe('keeping connected', () => {
  const states: ConnectionState['status'][] = [];
  const record = (state: ConnectionState) => states.push(state.status);
  beforeEach(() => {
    vi.useFakeTimers();
    states.length = 0;
  });
  afterEach(() => vi.useRealTimers());

  it('reconnects after a cut', async () => {
    const { transport, links } = scriptedTransport([]);
    keepConnected(transport, record);
    await vi.advanceTimersByTimeAsync(0);
    links[0]?.end('lost');
    await vi.advanceTimersByTimeAsync(1000);
    expect(states).toEqual(['connecting', 'connected', 'lost', 'connected']);
  });

  it('retries again and again, with growing delays', async () => {
    const { transport, opened } = scriptedTransport(Array.from({ length: 50 }, () => 'fails' as const));
    keepConnected(transport, record);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(opened()).toBeGreaterThan(7);
    expect(opened()).toBeLessThan(14);
    expect(states.at(-1)).toBe('lost');
  });

  it('tries at once when asked to', async () => {
    const { transport, opened } = scriptedTransport(['fails', 'fails', 'fails', 'fails', 'opens']);
    const connection = keepConnected(transport, record);
    await vi.advanceTimersByTimeAsync(2000);
    const before = opened();
    connection.retryNow();
    await vi.advanceTimersByTimeAsync(0);
    expect(opened()).toBe(before + 1);
  });

  it('gives up when it is refused, at the start or later', async () => {
    const { transport, opened } = scriptedTransport(['refuses']);
    keepConnected(transport, record);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(states).toEqual(['connecting', 'refused']);
    expect(opened()).toBe(1);

    const later = scriptedTransport([]);
    keepConnected(later.transport, record);
    await vi.advanceTimersByTimeAsync(0);
    later.links[0]?.end('refused');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(states.at(-1)).toBe('refused');
    expect(later.opened()).toBe(1);
  });

  it('publishes nothing more and closes its link once it is closed', async () => {
    const { transport, links } = scriptedTransport([]);
    const connection = keepConnected(transport, record);
    await vi.advanceTimersByTimeAsync(0);
    connection.close();
    links[0]?.end('lost');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(links[0]?.closed).toBe(true);
    expect(states).toEqual(['connecting', 'connected']);
  });

  it('never waits more than eleven seconds', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempt, random) => {
          const delay = retryDelay(attempt, () => random);
          expect(delay).toBeGreaterThanOrEqual(450);
          expect(delay).toBeLessThanOrEqual(11_000);
        },
      ),
    );
  });
});
