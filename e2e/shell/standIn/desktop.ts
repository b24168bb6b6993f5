/**
 * The parts of the desktop that the app uses: dialogs, menu, notifications, power, clipboard, screen (modules
 * of the same names).
 */
import { EventEmitter } from 'node:events';
import { app } from './app.ts';
import { BrowserWindow } from './browserWindow.ts';

interface MenuItemOptions {
  label?: string;
  role?: string;
  type?: string;
  click?: () => void;
  submenu?: MenuItemOptions[];
}

/** A test replaces these functions to answer as the user; otherwise every dialog is dismissed. */
export const dialog = {
  showMessageBox: (...args: unknown[]) => {
    const { cancelId = 0 } = args.at(-1) as { cancelId?: number };
    return Promise.resolve({ response: cancelId, checkboxChecked: false });
  },
  showOpenDialog: () => Promise.resolve({ canceled: true, filePaths: [] as string[] }),
  showSaveDialog: () => Promise.resolve({ canceled: true, filePath: '' }),
  /** "If called before the app ready event on Linux, the message will be emitted to stderr". */
  showErrorBox: (title: string, content: string) => {
    process.stderr.write(`${title}\n${content}\n`);
  },
};

/** The action of an item that has a role and no function of its own (api/menu-item). */
const ROLES: Readonly<Record<string, () => void>> = {
  quit: () => app.quit(),
  reload: () => BrowserWindow.getFocusedWindow()?.reload(),
  close: () => BrowserWindow.getFocusedWindow()?.close(),
};

/** The menus behind roles, as far as the app's users could click on something in them. */
const ROLE_MENUS: Readonly<Record<string, MenuItemOptions>> = {
  appMenu: { label: app.name, submenu: [{ role: 'about' }, { role: 'quit' }] },
  fileMenu: { label: 'File', submenu: [{ role: process.platform === 'darwin' ? 'close' : 'quit' }] },
};

class MenuItem {
  readonly label: string;
  readonly role: string | undefined;
  readonly type: string;
  readonly submenu: Menu | undefined;
  private readonly action: (() => void) | undefined;

  constructor(given: MenuItemOptions) {
    const options = { ...ROLE_MENUS[given.role ?? ''], ...given };
    this.label = options.label ?? options.role ?? '';
    this.role = options.role?.toLowerCase();
    this.type = options.type ?? (options.submenu ? 'submenu' : 'normal');
    this.submenu = options.submenu && Menu.buildFromTemplate(options.submenu);
    this.action = options.click ?? ROLES[this.role ?? ''];
  }

  click(): void {
    this.action?.();
  }
}

export class Menu {
  private static applicationMenu: Menu | null = null;
  readonly items: MenuItem[];

  private constructor(items: MenuItem[]) {
    this.items = items;
  }

  static buildFromTemplate(template: MenuItemOptions[]): Menu {
    return new Menu(template.map((options) => new MenuItem(options)));
  }
  static setApplicationMenu(menu: Menu | null): void {
    this.applicationMenu = menu;
  }
  static getApplicationMenu(): Menu | null {
    return this.applicationMenu;
  }
}

export class Notification extends EventEmitter {
  readonly title: string;
  readonly body: string;

  constructor({ title = '', body = '' }: { title?: string; body?: string }) {
    super();
    this.title = title;
    this.body = body;
  }
  static isSupported = () => true;
  show(): void {
    this.emit('show');
  }
  close(): void {
    this.emit('close');
  }
}

export const powerMonitor = Object.assign(new EventEmitter(), { isOnBatteryPower: () => false });

const blockers = new Set<number>();
let lastBlocker = 0;
export const powerSaveBlocker = {
  start: () => {
    blockers.add(++lastBlocker);
    return lastBlocker;
  },
  stop: (id: number) => blockers.delete(id),
  isStarted: (id: number) => blockers.has(id),
};

let clipboardText = '';
export const clipboard = {
  writeText: (text: string) => {
    clipboardText = text;
    return Promise.resolve();
  },
  readText: () => Promise.resolve(clipboardText),
};

export const shell = {
  openExternal: () => Promise.resolve(),
  openPath: () => Promise.resolve(''),
  showItemInFolder: () => undefined,
};

export const nativeTheme = Object.assign(new EventEmitter(), {
  themeSource: 'system',
  shouldUseDarkColors: false,
});
export const screen = {
  getAllDisplays: () => [{ workArea: { x: 0, y: 0, width: 1440, height: 900 } }],
};
export const crashReporter = { start: () => undefined };
