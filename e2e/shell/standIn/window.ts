/**
 * Windows, their pages, and what passes between those and the main process. The pages are in the Chromium of the test; nothing is drawn.
 * Chromium does not know the scheme app://, so a page has the address https://virnucpro.app.test there; the app's own handler answers its
 * requests, and nothing goes over a network.
 */
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import type { MessagePort } from 'node:worker_threads';
import { chromium, type Page, type Route } from '@playwright/test';
import { app, preventable } from './app.ts';

const HIDDEN = 'https://virnucpro.app.test/';
const SHOWN = 'app://virnucpro/';

const handlers = new Map<string, (request: Request) => Promise<Response>>();
const listeners = new Map<string, (event: object, ...args: unknown[]) => unknown>();

export const protocol = {
  registerSchemesAsPrivileged(): void {
    if (app.isReady()) throw new Error('registerSchemesAsPrivileged should be called before app is ready');
  },
};
export const session = { defaultSession: { protocol: { handle: handlers.set.bind(handlers) } } };
export const ipcMain = { handle: listeners.set.bind(listeners), on: listeners.set.bind(listeners) };

/** What the page's half of the preload script sends. */
type FromPage =
  | { type: 'call'; id: number; channel: string; args: unknown[] }
  | { type: 'port-data'; port: number; data: unknown };

class WebContents extends EventEmitter {
  private readonly preload: string | undefined;
  private readonly ports = new Map<number, MessagePort>();
  private lastPort = 0;
  private page: Promise<Page> | undefined;
  private url = '';
  destroyed = false;

  constructor(preload: string | undefined) {
    super();
    this.preload = preload;
  }

  isDestroyed = () => this.destroyed;
  getURL = () => this.url;

  loadURL(url: string): Promise<void> {
    this.page = this.open(url);
    return this.page.then(() => undefined);
  }

  /** In a new page: after a crash, Playwright accepts no calls for the same one. */
  reload(): void {
    const left = this.page;
    this.page = this.open(this.url).finally(() => left?.then((page) => page.close()).catch(() => undefined));
    this.page.catch(() => undefined);
  }

  forcefullyCrashRenderer(): void {
    void this.page?.then((page) => page.goto('chrome://crash')).catch(() => undefined);
  }

  async executeJavaScript(code: string): Promise<unknown> {
    return (await this.page)?.evaluate(code);
  }

  postMessage(channel: string, message: unknown, transfer: MessagePort[] = []): void {
    const ids = transfer.map((port) => {
      const id = ++this.lastPort;
      this.ports.set(id, port);
      port.on('message', (data: unknown) => {
        this.tell({ type: 'port-data', port: id, data });
      });
      port.on('close', () => {
        this.tell({ type: 'port-close', port: id });
      });
      return id;
    });
    this.tell({ type: 'message', channel, message, ports: ids });
  }

  destroy(): void {
    this.destroyed = true;
    this.closePorts();
    void this.page?.then((page) => page.close()).catch(() => undefined);
    this.emit('destroyed');
  }

  /** A page that is gone in the meantime takes nothing. */
  private tell(told: object): void {
    const take = (message: object) =>
      (globalThis as unknown as { fromStandIn: (message: object) => void }).fromStandIn(message);
    void this.page?.then((page) => page.evaluate(take, told)).catch(() => undefined);
  }

  private async open(url: string): Promise<Page> {
    const browser = await chromium.connectOverCDP(process.env['STAND_IN_CHROMIUM'] ?? '');
    const page = await (browser.contexts()[0] ?? (await browser.newContext())).newPage();
    page.on('domcontentloaded', () => this.emit('did-navigate', {}));
    page.on('load', () => this.emit('painted'));
    page.on('crash', () => {
      this.closePorts();
      this.emit('render-process-gone', {}, { reason: 'crashed', exitCode: 139 });
    });
    await page.exposeBinding('toStandIn', (_, message: FromPage) => this.take(message));
    await page.addInitScript(
      preloadScript(this.preload === undefined ? '' : readFileSync(this.preload, 'utf8')),
    );
    await page.route('**/*', (route) => this.answer(route));
    await page.goto(url.replace(SHOWN, HIDDEN), { waitUntil: 'commit' });
    return page;
  }

  private async answer(route: Route): Promise<void> {
    const hidden = route.request().url();
    if (!hidden.startsWith(HIDDEN)) return route.abort();
    const url = hidden.replace(HIDDEN, SHOWN);
    if (route.request().isNavigationRequest()) {
      this.url = url;
      this.emit('did-start-navigation', { isMainFrame: true, isSameDocument: false });
    }
    const response = await handlers.get('app')?.(new Request(url));
    if (!response) return route.abort();
    const { status, headers } = response;
    const body = Buffer.from(await response.arrayBuffer());
    return route.fulfill({ status, headers: Object.fromEntries(headers), body });
  }

  private async take(message: FromPage): Promise<void> {
    if (message.type === 'port-data') {
      this.ports.get(message.port)?.postMessage(message.data);
      return;
    }
    const event = { sender: this, senderFrame: { url: this.url, parent: null } };
    try {
      const value = await listeners.get(message.channel)?.(event, ...message.args);
      this.tell({ type: 'answer', id: message.id, value });
    } catch (reason) {
      this.tell({ type: 'answer', id: message.id, error: String(reason) });
    }
  }

  private closePorts(): void {
    for (const port of this.ports.values()) port.close();
    this.ports.clear();
  }
}

export class BrowserWindow extends EventEmitter {
  readonly webContents: WebContents;
  private visible: boolean;

  constructor({ show = true, webPreferences }: { show?: boolean; webPreferences?: { preload: string } }) {
    super();
    if (!app.isReady()) throw new Error('Cannot create BrowserWindow before app is ready');
    this.visible = show;
    this.webContents = new WebContents(webPreferences?.preload);
    app.windows.add(this);
    if (process.env['STAND_IN_NEVER_PAINTS'] === undefined)
      this.webContents.once('painted', () => this.emit('ready-to-show'));
  }

  static getAllWindows = () => [...app.windows];
  loadURL = (url: string) => this.webContents.loadURL(url);
  isDestroyed = () => this.webContents.destroyed;
  isVisible = () => this.visible;
  isFocused = () => this.visible;
  isMinimized = () => false;
  show = () => (this.visible = true);
  hide = () => (this.visible = false);
  // There is no other window, and no taskbar.
  focus = () => undefined;
  flashFrame = () => undefined;
  setProgressBar = () => undefined;

  close(): void {
    const event = preventable();
    this.emit('close', event);
    if (event.defaultPrevented) app.stays();
    else this.destroy();
  }

  destroy(): void {
    if (this.isDestroyed()) return;
    this.webContents.destroy();
    this.emit('closed');
    app.windows.delete(this);
    app.windowIsGone();
  }
}

/** The preload script with what it requires; its world is the page's own. A test names the paths of dropped files. */
const preloadScript = (preload: string): string => `(() => {
  const listeners = new Map();
  const calls = new Map();
  const ports = new Map();
  const call = (channel, args) =>
    new Promise((resolve, reject) => {
      const id = calls.size;
      calls.set(id, { resolve, reject });
      window.toStandIn({ type: 'call', id, channel, args });
    });
  window.fromStandIn = (told) => {
    if (told.type === 'answer') {
      if (told.error === undefined) calls.get(told.id).resolve(told.value);
      else calls.get(told.id).reject(new Error(told.error));
    } else if (told.type === 'message') {
      const given = told.ports.map((id) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => window.toStandIn({ type: 'port-data', port: id, data });
        ports.set(id, port1);
        return port2;
      });
      listeners.get(told.channel)?.({ ports: given }, told.message);
    } else if (told.type === 'port-data') ports.get(told.port)?.postMessage(told.data);
    else ports.get(told.port)?.close();
  };
  const electron = {
    contextBridge: { exposeInMainWorld: (name, api) => Object.assign(window, { [name]: api }) },
    ipcRenderer: {
      on: (channel, listener) => listeners.set(channel, listener),
      sendSync: (channel, ...args) => void call(channel, args),
      invoke: (channel, ...args) => call(channel, args),
    },
    webUtils: { getPathForFile: ({ name }) => window.droppedPaths?.[name] ?? '' },
  };
  ((require) => {
${preload}
  })(() => electron);
})();`;
