import { RPCHandler } from '@orpc/server/message-port';
import { describe, expect, it, vi } from 'vitest';
import { createMemoryEngine } from '../testing/memoryEngine/index.ts';
import { electronTransport, createEngineClient } from '../state/connection.ts';

/** A page whose messages the test sends, and a bridge that makes main answer with a port. */
function page() {
  const target = new EventTarget();
  const send = (source: unknown, data: unknown, ports: MessagePort[]) => {
    const event = Object.assign(new Event('message'), { source, data, ports });
    target.dispatchEvent(event);
  };
  return { window: target as unknown as Window, send };
}

describe('the port from Electron’s main', () => {
  it('carries calls, and accepts only a port that comes from this very page', async () => {
    const { window, send } = page();
    const { port1, port2 } = new MessageChannel();
    const stranger = new MessageChannel();
    const connect = vi.fn(() => {
      send({}, { type: 'virnucpro:port' }, [stranger.port1]);
      send(window, { type: 'something else' }, [stranger.port1]);
      const { router, context } = createMemoryEngine();
      new RPCHandler(router).upgrade(port2, { context });
      port2.start();
      send(window, { type: 'virnucpro:port' }, [port1]);
      return Promise.resolve();
    });
    const link = await electronTransport({ connect, pathForFile: () => '' }, window).open();
    expect((await createEngineClient(link.calls).computer.info()).version).toBe('0.1.0');
    link.close();
    expect(await link.ended).toBe('lost');
  });

  it('ends when the other side closes', async () => {
    const { window, send } = page();
    const { port1, port2 } = new MessageChannel();
    const connect = () => {
      send(window, { type: 'virnucpro:port' }, [port1]);
      return Promise.resolve();
    };
    const link = await electronTransport({ connect, pathForFile: () => '' }, window).open();
    port2.close();
    expect(await link.ended).toBe('lost');
  });

  it('ends when main reports that the port to its computer is dead, and not for any other computer', async () => {
    const { window, send } = page();
    const { port1 } = new MessageChannel();
    const connect = () => {
      send(window, { type: 'virnucpro:port', computer: 'far' }, [port1]);
      return Promise.resolve();
    };
    const link = await electronTransport({ connect, pathForFile: () => '' }, window, 'far').open();
    send(window, { type: 'virnucpro:port', computer: 'farther' }, []);
    const early = await Promise.race([link.ended, new Promise((resolve) => setTimeout(resolve, 50))]);
    expect(early).toBeUndefined();
    const call = createEngineClient(link.calls).computer.info();
    send(window, { type: 'virnucpro:port', computer: 'far' }, []);
    expect(await link.ended).toBe('lost');
    await expect(call).rejects.toThrow();
  });

  it('fails when main refuses', async () => {
    const { window } = page();
    const connect = () => Promise.reject(new Error('no'));
    await expect(electronTransport({ connect, pathForFile: () => '' }, window).open()).rejects.toThrow('no');
  });
});
