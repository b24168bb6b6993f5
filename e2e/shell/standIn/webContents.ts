/** A page and the events of its life (api/web-contents), and the main process's end of its messages (api/ipc-main). */
/* eslint-disable @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-assignment --
   the protocol's messages, checked by Chromium */
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { app, preventable } from './app.ts';
import { chromium } from './chromium.ts';
import type { DevTools, DevToolsSession, Params } from './devtools.ts';
import { MessagePortMain } from './messagePorts.ts';
import { BINDING, PAGE_SIDE, PRELOAD_WORLD, preloadSide } from './preloadWorld.ts';
import { appUrl, chromiumUrl, session, type Session } from './sessions.ts';

type OpenHandler = (details: { url: string }) => { action: 'deny' | 'allow' };

export interface WebPreferences {
  preload?: string;
  [name: string]: unknown;
}

/** Electron's names of permissions, with Chromium's. */
const PERMISSIONS: Readonly<Record<string, string>> = {
  geolocation: 'geolocation',
  notifications: 'notifications',
  media: 'camera',
  midi: 'midi',
  'clipboard-read': 'clipboard-read',
};

export const ipcMain = new (class IpcMain extends EventEmitter {
  private readonly handlers = new Map<string, (event: object, ...args: unknown[]) => unknown>();

  handle(channel: string, handler: (event: object, ...args: unknown[]) => unknown): void {
    if (this.handlers.has(channel))
      throw new Error(`Attempted to register a second handler for '${channel}'`);
    this.handlers.set(channel, handler);
  }

  async call(channel: string, event: object, args: unknown[]): Promise<unknown> {
    const handler = this.handlers.get(channel);
    if (!handler) throw new Error(`No handler registered for '${channel}'`);
    return await handler(event, ...args);
  }
})();

export class WebContents extends EventEmitter {
  readonly session: Session = session.defaultSession;
  readonly mainFrame: { readonly url: string; readonly parent: null };
  private readonly preferences: WebPreferences;
  private devtools: DevTools | undefined;
  private page: DevToolsSession | undefined;
  private targetId = '';
  private readonly opened: Promise<DevToolsSession>;
  private openHandler: OpenHandler = () => ({ action: 'allow' });
  private url = '';
  private destroyed = false;
  /** Whether the program itself navigates, for which there is no "will-navigate". */
  private navigatesItself = true;
  /** The preload script's world in the current page. */
  private world: number | undefined;
  private readonly ports = new Map<number, MessagePortMain>();
  private lastPort = 0;

  constructor(preferences: WebPreferences) {
    super();
    this.preferences = preferences;
    const address = () => this.url;
    this.mainFrame = {
      get url() {
        return address();
      },
      parent: null,
    };
    this.opened = this.open();
    this.opened.catch((reason: unknown) => {
      if (!this.destroyed) throw reason;
    });
    app.emit('web-contents-created', {}, this);
  }

  getURL = () => this.url;
  isDestroyed = () => this.destroyed;
  getLastWebPreferences = () => this.preferences;
  setWindowOpenHandler(handler: OpenHandler): void {
    this.openHandler = handler;
  }

  async loadURL(url: string): Promise<void> {
    const page = await this.opened;
    this.navigatesItself = true;
    const { errorText } = await page.send('Page.navigate', { url: chromiumUrl(url) });
    if (errorText) throw new Error(`${String(errorText)} loading '${url}'`);
  }

  reload(): void {
    this.navigatesItself = true;
    void this.opened.then((page) => page.send('Page.reload')).catch(() => undefined);
  }

  async executeJavaScript(code: string): Promise<unknown> {
    const page = await this.opened;
    const { result, exceptionDetails } = await page.send('Runtime.evaluate', {
      expression: code,
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
    });
    if (exceptionDetails) throw new Error(String(result['description']));
    return result['value'];
  }

  /** "Forcefully terminates the renderer process that is currently hosting this webContents." */
  forcefullyCrashRenderer(): void {
    // A page that is gone does not answer.
    void this.page?.send('Page.crash').catch(() => undefined);
  }

  send(channel: string, ...args: unknown[]): void {
    this.deliver({ type: 'message', channel, args, ports: [] });
  }

  /** "Send a message to the renderer process, optionally transferring ownership of zero or more MessagePortMain objects." */
  postMessage(channel: string, message: unknown, transfer: MessagePortMain[] = []): void {
    const ids = transfer.map((port) => this.takeOver(port));
    this.deliver({ type: 'message', channel, args: [message], ports: ids });
  }

  /** Not part of Electron: the window is destroyed. */
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.pageIsGone();
    void this.devtools?.send('Target.closeTarget', { targetId: this.targetId }).catch(() => undefined);
    this.emit('destroyed');
  }

  private async open(): Promise<DevToolsSession> {
    this.devtools = await chromium(app.getPath('userData'));
    const { targetId } = await this.devtools.send('Target.createTarget', {
      url: 'about:blank',
      newWindow: true,
    });
    this.targetId = targetId as string;
    const page = await this.devtools.attach(this.targetId);
    this.page = page;
    this.listen(page);
    for (const domain of ['Page', 'Runtime', 'Debugger', 'DOM', 'Inspector'])
      await page.send(`${domain}.enable`);
    await page.send('Page.setLifecycleEventsEnabled', { enabled: true });
    await page.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
    await this.setPermissions();
    await page.send('Page.addScriptToEvaluateOnNewDocument', { source: PAGE_SIDE });
    if (this.preferences.preload !== undefined) {
      await page.send('Runtime.addBinding', { name: BINDING, executionContextName: PRELOAD_WORLD });
      await page.send('Page.addScriptToEvaluateOnNewDocument', {
        source: preloadSide(readFileSync(this.preferences.preload, 'utf8')),
        worldName: PRELOAD_WORLD,
      });
    }
    return page;
  }

  private async setPermissions(): Promise<void> {
    const origin = 'app://virnucpro/';
    for (const [permission, name] of Object.entries(PERMISSIONS)) {
      await this.devtools?.send('Browser.setPermission', {
        permission: { name },
        setting: this.session.allows(permission, origin) ? 'granted' : 'denied',
        origin: new URL(chromiumUrl(origin)).origin,
      });
    }
  }

  private listen(page: DevToolsSession): void {
    page.on('Fetch.requestPaused', (params) => {
      this.answer(page, params).catch(() => undefined);
    });
    page.on('Runtime.executionContextCreated', ({ context }) => {
      const { name, id, auxData } = context as Params;
      if (name === PRELOAD_WORLD && auxData?.frameId === this.targetId) this.world = id as number;
    });
    page.on('Runtime.bindingCalled', ({ name, payload, executionContextId }) => {
      if (name === BINDING) this.take(JSON.parse(payload as string) as Params, executionContextId as number);
    });
    page.on('Debugger.paused', ({ callFrames }) => {
      this.givePath(page, callFrames[0] as Params).catch(() => undefined);
    });
    page.on('Page.frameNavigated', ({ frame }) => {
      if (frame['parentId'] !== undefined) return;
      this.url = appUrl(`${String(frame['url'])}${String(frame['urlFragment'] ?? '')}`);
      this.navigatesItself = false;
      this.emit('did-frame-navigate', {}, this.url, 200, 'OK', true, 0, 0);
      this.emit('did-navigate', {}, this.url, 200, 'OK');
    });
    page.on('Page.navigatedWithinDocument', ({ frameId, url }) => {
      if (frameId !== this.targetId) return;
      this.url = appUrl(url as string);
      this.emit('did-start-navigation', { url: this.url, isMainFrame: true, isSameDocument: true });
      this.emit('did-navigate-in-page', {}, this.url, true, 0, 0);
    });
    page.on('Page.lifecycleEvent', ({ name, frameId }) => {
      if (name === 'firstPaint' && frameId === this.targetId && this.url !== '') this.emit('first-paint');
    });
    page.on('Page.windowOpen', ({ url }) => {
      const { action } = this.openHandler({ url: appUrl(url as string) });
      if (action === 'allow') throw new Error('The stand-in opens no windows for pages');
    });
    page.on('Inspector.targetCrashed', () => {
      this.pageIsGone();
      this.emit('render-process-gone', {}, { reason: 'crashed', exitCode: 139 });
    });
  }

  /** Answers every request of the page. A document for its main frame is a navigation. */
  private async answer(
    page: DevToolsSession,
    { requestId, request, resourceType, frameId }: Params,
  ): Promise<void> {
    const url = appUrl(request.url as string);
    if (resourceType === 'Document' && frameId === this.targetId && !this.mayNavigate(url)) {
      await page.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' });
      return;
    }
    const handler = this.session.protocol.handlerOf(new URL(url).protocol.slice(0, -1));
    if (!handler) {
      await page.send('Fetch.failRequest', { requestId, errorReason: 'InternetDisconnected' });
      return;
    }
    const response = await handler(new Request(url, { method: request.method as string }));
    await page.send('Fetch.fulfillRequest', {
      requestId,
      responseCode: response.status,
      responseHeaders: [...response.headers].map(([name, value]) => ({ name, value })),
      body: Buffer.from(await response.arrayBuffer()).toString('base64'),
    });
  }

  /**
   * "When a webContents navigates to another page", events come in this order: did-start-navigation, will-frame-navigate,
   * will-navigate, [...] did-frame-navigate, did-navigate. "Subsequent events will not fire if event.preventDefault() is
   * called". will-navigate "will not emit when the navigation is started programmatically".
   */
  private mayNavigate(url: string): boolean {
    const details = { url, isMainFrame: true, isSameDocument: false };
    this.emit('did-start-navigation', details);
    if (this.navigatesItself) return true;
    for (const name of ['will-frame-navigate', 'will-navigate']) {
      const event = preventable(details);
      this.emit(name, event, url);
      if (event.defaultPrevented) return false;
    }
    return true;
  }

  private take(message: Params, world: number): void {
    const event = { sender: this, senderFrame: this.mainFrame, ports: [] };
    switch (message['type']) {
      case 'send':
        ipcMain.emit(message['channel'] as string, event, ...(message['args'] as unknown[]));
        break;
      case 'invoke':
        ipcMain.call(message['channel'] as string, event, message['args'] as unknown[]).then(
          (value) => this.deliver({ type: 'answer', id: message['id'] as number, value }, world),
          (reason: unknown) =>
            this.deliver(
              {
                type: 'answer',
                id: message['id'] as number,
                error: `Error invoking remote method '${String(message['channel'])}': ${String(reason)}`,
              },
              world,
            ),
        );
        break;
      case 'port-data': {
        const { json, bytes } = message['data'] as { json?: unknown; bytes?: string };
        this.ports
          .get(message['port'] as number)
          ?.receive(bytes === undefined ? json : new Uint8Array(Buffer.from(bytes, 'base64')));
        break;
      }
      case 'port-close':
        this.ports.get(message['port'] as number)?.disconnected();
        this.ports.delete(message['port'] as number);
        break;
    }
  }

  /** Sends a port to the page: from now on messages from its other end go there. */
  private takeOver(port: MessagePortMain): number {
    const id = ++this.lastPort;
    const { farEnd } = port;
    if (!(farEnd instanceof MessagePortMain)) throw new Error('This port cannot be sent');
    this.ports.set(id, farEnd);
    farEnd.join({
      receive: (data) => {
        const packed = ArrayBuffer.isView(data)
          ? { bytes: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64') }
          : { json: data };
        this.deliver({ type: 'port-data', port: id, data: packed });
      },
      disconnected: () => {
        this.ports.delete(id);
        this.deliver({ type: 'port-close', port: id });
      },
    });
    return id;
  }

  private deliver(message: Params, world = this.world): void {
    if (world === undefined || !this.page) return;
    const expression = `fromStandIn(${JSON.stringify(message)})`;
    // A page that is gone in the meantime receives nothing.
    void this.page.send('Runtime.evaluate', { expression, contextId: world }).catch(() => undefined);
  }

  /** While `webUtils.getPathForFile` pauses in the page, the path of its file is written to its variable. */
  private async givePath(page: DevToolsSession, callFrame: Params): Promise<void> {
    try {
      if (callFrame['functionName'] !== 'pathFromDisk') return;
      const callFrameId = callFrame['callFrameId'] as string;
      const { result } = await page.send('Debugger.evaluateOnCallFrame', { callFrameId, expression: 'file' });
      const info = await page
        .send('DOM.getFileInfo', { objectId: result['objectId'] as string })
        .catch(() => ({ path: '' }));
      await page.send('Debugger.evaluateOnCallFrame', {
        callFrameId,
        expression: `path = ${JSON.stringify(info['path'])}`,
      });
    } finally {
      await page.send('Debugger.resume');
    }
  }

  /** When the page is gone, so is "the remote end" of each of its ports. */
  private pageIsGone(): void {
    this.world = undefined;
    for (const port of this.ports.values()) port.disconnected();
    this.ports.clear();
  }
}
