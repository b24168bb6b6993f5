import { RPCHandler } from '@orpc/server/message-port';
import { linkOverPort, type EngineLink, type Transport } from '../state/connection.ts';
import type { createMemoryEngine } from './memoryEngine/index.ts';

type MemoryEngine = ReturnType<typeof createMemoryEngine>;

/** Links to a memory engine over a real message channel, as in Electron. */
export function linkTo(engine: MemoryEngine): EngineLink & { cut(): void } {
  const { port1, port2 } = new MessageChannel();
  new RPCHandler(engine.router).upgrade(port2, { context: engine.context });
  port2.start();
  return { ...linkOverPort(port1), cut: () => port2.close() };
}

export function memoryTransport(engine: MemoryEngine): Transport {
  return { open: () => Promise.resolve(linkTo(engine)) };
}
