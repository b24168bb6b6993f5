import { implement } from '@orpc/server';
import { EventEmitter } from 'node:events';
import type { MessagePort } from 'node:worker_threads';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import type { ContractRouterClient } from '@orpc/contract';
import type { IpcMainEvent, WebContents } from 'electron';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ServiceRouter } from '../../engine/index.ts';
import { contract } from '../../contract/index.ts';
import type { CallContext } from '../../engine/service/window/windowContext.ts';
import { CHANNELS } from './channels.ts';
import { GrantedPaths } from './grantedPaths.ts';
import { PortBroker } from './portBroker.ts';

/**
 * A stand-in for both ends of Electron's IPC, as far as the broker uses them: an emitter, and ports that emit
 * `{ data }`.
 */
const electron = vi.hoisted(() => ({
  handlers: new Map<string, (event: object, ...args: unknown[]) => unknown>(),
  made: [] as MessagePort[],
}));

vi.mock('electron', async () => {
  // This runs before the imports above.
  const { EventEmitter: Emitter } = await import('node:events');
  const { MessageChannel: Channel } = await import('node:worker_threads');
  class MainPort extends Emitter {
    private readonly port: MessagePort;
    constructor(port: MessagePort) {
      super();
      this.port = port;
      port.on('message', (data: unknown) => this.emit('message', { data }));
      port.on('close', () => this.emit('close'));
    }
    start(): void {
      this.port.start();
    }
    postMessage(data: unknown): void {
      this.port.postMessage(data);
    }
    close(): void {
      this.port.close();
    }
  }
  class MessageChannelMain {
    readonly port1: MainPort;
    readonly port2: MessagePort;
    constructor() {
      const { port1, port2 } = new Channel();
      this.port1 = new MainPort(port1);
      this.port2 = port2;
    }
  }
  const add = (channel: string, handler: (event: object, ...args: unknown[]) => unknown): void => {
    electron.handlers.set(channel, handler);
  };
  return { ipcMain: { handle: add, on: add }, MessageChannelMain };
});

class Contents extends EventEmitter {
  readonly ports: MessagePort[] = [];
  postMessage(channel: string, _: unknown, ports: MessagePort[]): void {
    if (channel === CHANNELS.port) this.ports.push(...ports);
  }
}

const OUR_FRAME = { url: 'app://virnucpro/', parent: null };
let contents: Contents;
let given: string[];

/** Sends what the page would send; Electron reports the sender. */
function send(channel: string, senderFrame: object | null, ...args: unknown[]): unknown {
  const event = { sender: contents as unknown, senderFrame } as IpcMainEvent;
  return electron.handlers.get(channel)?.(event, ...args);
}

function version(port: MessagePort): Promise<{ version: string }> {
  port.start();
  const client = createORPCClient<ContractRouterClient<typeof contract>>(new RPCLink({ port }));
  return client.computer.info();
}

beforeEach(() => {
  contents = new Contents();
  given = [];
  const info = implement(contract.computer.info)
    .$context<CallContext>()
    .handler(({ context: { window } }) => ({
      version: '1.2.3',
      shell: window.shell,
      platform: 'test',
      dataDir: '/data',
      sameComputer: true,
      hostName: 'test',
      root: window.paths.root,
    }));
  const broker = new PortBroker({ computer: { info } } as unknown as ServiceRouter, () => undefined);
  broker.add({
    contents: contents as unknown as WebContents,
    context: { shell: 'electron', paths: new GrantedPaths(), desktop: {} as never },
    given: (path) => given.push(path),
  });
});

describe('PortBroker', () => {
  it('gives our page a port over which calls are answered', async () => {
    await send(CHANNELS.connect, OUR_FRAME);
    const [port] = contents.ports;
    expect(port && (await version(port))).toMatchObject({ version: '1.2.3', shell: 'electron' });
  });

  it.each([
    ['another site', { url: 'https://evil.example/', parent: null }],
    ['a frame in our page', { url: 'app://virnucpro/', parent: {} }],
    ['a frame that is gone', null],
  ])('refuses %s', (_, frame) => {
    expect(() => send(CHANNELS.connect, frame)).toThrow('may not talk');
    expect(contents.ports).toEqual([]);
    send(CHANNELS.givenPath, frame, '/etc/passwd');
    expect(given).toEqual([]);
  });

  it('gives no port to another computer that is not connected', () => {
    expect(() => send(CHANNELS.connect, OUR_FRAME, 'ab12')).toThrow('not connected');
    expect(contents.ports).toEqual([]);
  });

  it('refuses an unknown window', () => {
    contents.emit('destroyed');
    expect(() => send(CHANNELS.connect, OUR_FRAME)).toThrow('may not talk');
  });

  it('closes the port when the page leaves or crashes, and gives the next page another', async () => {
    for (const [event, details] of [
      ['did-navigate', {}],
      ['render-process-gone', {}],
    ] as const) {
      await send(CHANNELS.connect, OUR_FRAME);
      const port = contents.ports.at(-1);
      const closed = new Promise((resolve) => port?.on('close', resolve));
      // A navigation that is stopped causes no further event.
      contents.emit('did-start-navigation', { isMainFrame: true, isSameDocument: false });
      expect(port && (await version(port))).toMatchObject({ version: '1.2.3' });
      contents.emit(event, details);
      await closed;
    }
    await send(CHANNELS.connect, OUR_FRAME);
    const port = contents.ports.at(-1);
    expect(port && (await version(port))).toMatchObject({ version: '1.2.3' });
  });

  it('keeps the port of a page that asks for it before its navigation has ended', async () => {
    await send(CHANNELS.connect, OUR_FRAME);
    contents.emit('did-start-navigation', { isMainFrame: true, isSameDocument: false });
    await send(CHANNELS.connect, OUR_FRAME);
    contents.emit('did-navigate', {});
    const port = contents.ports.at(-1);
    expect(port && (await version(port))).toMatchObject({ version: '1.2.3' });
  });

  it('takes dropped paths from the preload script of our page', () => {
    send(CHANNELS.givenPath, OUR_FRAME, '/data/a.fa');
    send(CHANNELS.givenPath, OUR_FRAME, { toString: () => '/etc/passwd' });
    expect(given).toEqual(['/data/a.fa']);
  });
});
