import { create } from 'zustand';
import type { Settings } from '../../electron/contract/index.ts';
import { chosenComputer, engine, home } from './connection.ts';
import { store } from './storage.ts';

const THEME_KEY = 'virnucpro.theme';

/** What `computer.info` reports about the program that this window belongs to. */
export interface ShellInfo {
  readonly version: string;
  readonly shell: 'electron' | 'browser';
  readonly platform: string;
  readonly dataDir: string;
  readonly root: string | null;
  readonly sameComputer: boolean;
  readonly hostName: string;
}

interface SettingsState {
  /** Null until the engine has sent them. */
  readonly settings: Settings | null;
  readonly info: ShellInfo | null;
}

export const useSettings = create<SettingsState>(() => ({ settings: null, info: null }));

/** These settings belong to the window and its user, whichever computer it shows; all others are the shown computer's. */
const OF_THE_WINDOW: ReadonlySet<string> = new Set<keyof Settings>([
  'theme',
  'language',
  'keepAwake',
  'notifications',
  'welcomeSeen',
]);

const pick = (from: Partial<Settings>, isWindows: boolean): Partial<Settings> =>
  Object.fromEntries(Object.entries(from).filter(([name]) => OF_THE_WINDOW.has(name) === isWindows));

async function storedSettings(): Promise<Settings> {
  const settings = await engine.computer.settings();
  return chosenComputer === null ? settings : { ...settings, ...pick(await home.computer.settings(), true) };
}

async function storeSettings(change: Partial<Settings>): Promise<Settings> {
  if (chosenComputer === null) return engine.computer.changeSettings(change);
  const [shown, own] = [pick(change, false), pick(change, true)];
  if (Object.keys(shown).length > 0) await engine.computer.changeSettings(shown);
  if (Object.keys(own).length > 0) await home.computer.changeSettings(own);
  return storedSettings();
}

/** Until the other computer has answered, the window uses its own user's language and theme. */
export async function loadWindowSettings(): Promise<void> {
  const settings = await home.computer.settings();
  if (useSettings.getState().settings === null) useSettings.setState({ settings });
}

export async function loadSettings(): Promise<void> {
  const [settings, info] = await Promise.all([storedSettings(), engine.computer.info()]);
  rememberTheme(settings.theme);
  useSettings.setState({ settings, info });
}

/** Applies a change at once; if the engine rejects it, restores the old value and throws the error. */
export async function changeSettings(change: Partial<Settings>): Promise<void> {
  const before = useSettings.getState().settings;
  if (!before) return;
  useSettings.setState({ settings: { ...before, ...change } });
  try {
    const settings = await storeSettings(change);
    rememberTheme(settings.theme);
    useSettings.setState({ settings });
  } catch (reason) {
    useSettings.setState({ settings: before });
    throw reason;
  }
}

/** theme.js reads this before the first paint of the next start. */
const rememberTheme = (theme: Settings['theme']) => store(THEME_KEY, theme === 'system' ? null : theme);

export const isElectron = () => useSettings.getState().info?.shell === 'electron';
