import { RPCHandler } from '@orpc/server/message-port';
import { ipcMain, MessageChannelMain, type MessagePortMain, type WebContents } from 'electron';
import type { ServiceRouter, Tunnel, WindowContext } from '../../engine/index.ts';
import { CHANNELS } from './channels.ts';
import { isTrustedFrame } from './pagePolicy.ts';
import { relayToTunnel } from './tunnelRelay.ts';

type Port = Pick<MessagePortMain, 'close'>;

interface Window {
  contents: WebContents;
  context: WindowContext;
  /** Called with each path that the operating system reports as dropped. */
  given: (path: string) => void;
}

/** Stands for this program's own engine among the addresses of other computers. */
const OWN = '';

/**
 * Gives every window a port to the engine, or to that of another computer if it shows one. The page is
 * checked when it asks; the port is closed when the page leaves, and replaced when it returns.
 */
export class PortBroker {
  private readonly handler: RPCHandler<{ window: WindowContext }>;
  private readonly tunnel: (computer: string) => Tunnel | undefined;
  private readonly windows = new Map<WebContents, Window & { ports: Map<string, Port> }>();

  constructor(router: ServiceRouter, tunnel: (computer: string) => Tunnel | undefined) {
    this.handler = new RPCHandler(router);
    this.tunnel = tunnel;
    ipcMain.handle(CHANNELS.connect, ({ sender, senderFrame }, computer: unknown) => {
      if (!isTrustedFrame(senderFrame)) throw new Error('This page may not talk to the engine.');
      this.connect(sender, typeof computer === 'string' ? computer : OWN);
    });
    ipcMain.on(CHANNELS.givenPath, (event, path: unknown) => {
      const { sender, senderFrame } = event;
      if (isTrustedFrame(senderFrame) && typeof path === 'string') this.windows.get(sender)?.given(path);
      event.returnValue = null;
    });
  }

  add(window: Window): void {
    const { contents } = window;
    const ports = new Map<string, Port>();
    this.windows.set(contents, { ...window, ports });
    let leaving: ReadonlySet<Port> = new Set();
    const disconnect = (chosen: ReadonlySet<Port> = new Set(ports.values())): void => {
      for (const [computer, port] of [...ports]) {
        if (!chosen.has(port)) continue;
        port.close();
        ports.delete(computer);
      }
    };
    // A navigation that starts may be stopped, and then the page stays. When it has ended, the new page may have a port already.
    contents.on('did-start-navigation', ({ isMainFrame, isSameDocument }) => {
      if (isMainFrame && !isSameDocument) leaving = new Set(ports.values());
    });
    contents.on('did-navigate', () => {
      disconnect(leaving);
    });
    contents.on('render-process-gone', () => {
      disconnect();
    });
    contents.on('destroyed', () => {
      disconnect();
      this.windows.delete(contents);
    });
  }

  private connect(contents: WebContents, computer: string): void {
    const window = this.windows.get(contents);
    if (!window) throw new Error('This page may not talk to the engine.');
    const tunnel = this.tunnel(computer);
    if (computer !== OWN && !tunnel) throw new Error('That computer is not connected.');
    const { ports } = window;
    ports.get(computer)?.close();
    const { port1, port2 } = new MessageChannelMain();
    if (tunnel) {
      // Not every Chromium notifies a page when the other end of its port closes.
      const lost = (): void => {
        if (!contents.isDestroyed()) contents.postMessage(CHANNELS.port, computer);
      };
      ports.set(computer, relayToTunnel(port1, tunnel, lost));
    } else {
      ports.set(computer, port1);
      this.handler.upgrade(port1, { context: { window: window.context } });
    }
    port1.start();
    contents.postMessage(CHANNELS.port, computer, [port2]);
  }
}
