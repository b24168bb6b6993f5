import { RPCHandler } from '@orpc/server/message-port';
import { ipcMain, MessageChannelMain, type MessagePortMain, type WebContents } from 'electron';
import type { ServiceRouter, WindowContext } from '../../engine/index.ts';
import { CHANNELS } from './channels.ts';
import { isTrustedFrame } from './pagePolicy.ts';

interface Window {
  contents: WebContents;
  context: WindowContext;
  /** Told of each path that the operating system says was dropped. */
  given: (path: string) => void;
}

/** Hands every window one port to the engine: checked when it asks, closed when its page goes, replaced when it comes back. */
export class PortBroker {
  private readonly handler: RPCHandler<{ window: WindowContext }>;
  private readonly windows = new Map<WebContents, Window>();
  private readonly ports = new Map<WebContents, MessagePortMain>();

  constructor(router: ServiceRouter) {
    this.handler = new RPCHandler(router);
    ipcMain.handle(CHANNELS.connect, ({ sender, senderFrame }) => {
      if (!isTrustedFrame(senderFrame)) throw new Error('This page may not talk to the engine.');
      this.connect(sender);
    });
    ipcMain.on(CHANNELS.givenPath, ({ sender, senderFrame }, path: unknown) => {
      if (isTrustedFrame(senderFrame) && typeof path === 'string') this.windows.get(sender)?.given(path);
    });
  }

  add(window: Window): void {
    const { contents } = window;
    this.windows.set(contents, window);
    const disconnect = (): void => {
      this.ports.get(contents)?.close();
      this.ports.delete(contents);
    };
    // Not when a navigation starts: it may be stopped, and the page stays.
    contents.on('did-navigate', disconnect);
    contents.on('render-process-gone', disconnect);
    contents.on('destroyed', () => {
      disconnect();
      this.windows.delete(contents);
    });
  }

  private connect(contents: WebContents): void {
    const window = this.windows.get(contents);
    if (!window) throw new Error('This page may not talk to the engine.');
    this.ports.get(contents)?.close();
    const { port1, port2 } = new MessageChannelMain();
    this.ports.set(contents, port1);
    this.handler.upgrade(port1, { context: { window: window.context } });
    port1.start();
    contents.postMessage(CHANNELS.port, null, [port2]);
  }
}
