import { implement } from '@orpc/server';
import { EventEmitter, once } from 'node:events';
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

/** What the broker answers, which the page's half of Electron's IPC would call. */
const handlers = vi.hoisted(() => new Map<string, (event: object, ...args: unknown[]) => unknown>());
vi.mock('electron', async () => {
  const { MessageChannelMain } = await import('./testing/messageChannelMain.ts');
  const add = handlers.set.bind(handlers);
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
  return handlers.get(channel)?.(event, ...args);
}

/** Expects an answer over the port that the page got last, which is returned. */
async function expectAnswer(): Promise<MessagePort> {
  const port = contents.ports.at(-1);
  if (!port) throw new Error('The page got no port');
  port.start();
  const client = createORPCClient<ContractRouterClient<typeof contract>>(new RPCLink({ port }));
  expect(await client.computer.info()).toMatchObject({ version: '1.2.3', shell: 'electron' });
  return port;
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
    await expectAnswer();
  });

  it('refuses a frame that is not to be trusted', () => {
    const frame = { url: 'https://evil.example/', parent: null };
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
      // A navigation that is stopped causes no further event.
      contents.emit('did-start-navigation', { isMainFrame: true, isSameDocument: false });
      const closed = once(await expectAnswer(), 'close');
      contents.emit(event, details);
      await closed;
    }
    await send(CHANNELS.connect, OUR_FRAME);
    await expectAnswer();
  });

  it('keeps the port of a page that asks for it before its navigation has ended', async () => {
    await send(CHANNELS.connect, OUR_FRAME);
    contents.emit('did-start-navigation', { isMainFrame: true, isSameDocument: false });
    await send(CHANNELS.connect, OUR_FRAME);
    contents.emit('did-navigate', {});
    await expectAnswer();
  });

  it('takes dropped paths from the preload script of our page', () => {
    send(CHANNELS.givenPath, OUR_FRAME, '/data/a.fa');
    send(CHANNELS.givenPath, OUR_FRAME, { toString: () => '/etc/passwd' });
    expect(given).toEqual(['/data/a.fa']);
  });
});
