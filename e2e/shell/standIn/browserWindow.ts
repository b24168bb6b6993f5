/** Windows (api/browser-window). Nothing is drawn; what would be visible is kept as state. */
import { EventEmitter } from 'node:events';
import { app, preventable } from './app.ts';
import { WebContents, type WebPreferences } from './webContents.ts';

interface Options {
  x?: number;
  y?: number;
  width?: number;
  height?: number;
  show?: boolean;
  webPreferences?: WebPreferences;
}

const all: BrowserWindow[] = [];

export class BrowserWindow extends EventEmitter {
  readonly webContents: WebContents;
  progress: { value: number; mode: string | undefined } = { value: -1, mode: undefined };
  private bounds: { x: number; y: number; width: number; height: number };
  private visible: boolean;
  private destroyed = false;
  private painted = false;

  constructor({ x = 0, y = 0, width = 800, height = 600, show = true, webPreferences = {} }: Options) {
    super();
    if (!app.isReady()) throw new Error('Cannot create BrowserWindow before app is ready');
    this.bounds = { x, y, width, height };
    this.visible = show;
    this.webContents = new WebContents(webPreferences);
    all.push(this);
    app.windows.add(this);
    app.emit('browser-window-created', {}, this);
    // "Emitted when the web page has been rendered (while not being shown)".
    this.webContents.on('first-paint', () => {
      if (this.painted || process.env['STAND_IN_NEVER_PAINTS'] !== undefined) return;
      this.painted = true;
      this.emit('ready-to-show');
    });
  }

  static getAllWindows(): BrowserWindow[] {
    return [...all];
  }
  static getFocusedWindow(): BrowserWindow | null {
    return all.find((window) => window.isFocused()) ?? null;
  }

  loadURL = (url: string) => this.webContents.loadURL(url);
  reload = () => this.webContents.reload();
  isDestroyed = () => this.destroyed;
  isVisible = () => this.visible;
  isFocused = () => this.visible;
  isMinimized = () => false;
  isMaximized = () => false;
  isFullScreen = () => false;
  getBounds = () => this.bounds;
  getNormalBounds = () => this.bounds;
  setTitle(): void {
    // There is no title bar.
  }
  setBounds(bounds: Partial<BrowserWindow['bounds']>): void {
    this.bounds = { ...this.bounds, ...bounds };
  }
  show(): void {
    this.visible = true;
    this.emit('show');
  }
  hide(): void {
    this.visible = false;
    this.emit('hide');
  }
  focus(): void {
    // A shown window has the focus, because there is only one.
  }
  restore(): void {
    this.show();
  }
  flashFrame(): void {
    // There is no taskbar.
  }
  setProgressBar(value: number, options?: { mode: string }): void {
    this.progress = { value, mode: options?.mode };
  }

  /** "Try to close the window. This has the same effect as a user manually clicking the close button of the window." */
  close(): void {
    const event = preventable();
    this.emit('close', event);
    if (event.defaultPrevented) app.stays();
    else this.destroy();
  }

  /** "Force closing the window, the unload and beforeunload event won't be emitted for the web page, and close event will
   * also not be emitted for this window, but it guarantees the closed event will be emitted." */
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    all.splice(all.indexOf(this), 1);
    this.webContents.destroy();
    this.emit('closed');
    app.windowIsGone(this);
  }
}
