import { settingsSchema, setupSettingsSchema, type Settings } from '../../contract/rpc/computer.ts';
import { type AppPaths, readSetupSettings, writeSetupSettings } from '../environment/appPaths.ts';
import type { LibraryStore } from '../store/storeThread.ts';
import { Listeners } from './changes.ts';

const KEY = 'settings';

/** The user's settings: stored in the library, passed to every listener when they change. */
export class UserSettings {
  private readonly library: LibraryStore;
  private readonly paths: Pick<AppPaths, 'usualDataDir'>;
  private readonly listeners = new Listeners<[Settings]>();
  private settings: Settings;

  private constructor(library: LibraryStore, paths: Pick<AppPaths, 'usualDataDir'>, settings: Settings) {
    this.library = library;
    this.paths = paths;
    this.settings = settings;
  }

  static async open(library: LibraryStore, paths: Pick<AppPaths, 'usualDataDir'>): Promise<UserSettings> {
    const stored = settingsSchema.safeParse((await library.setting(KEY)) ?? {});
    return new UserSettings(library, paths, {
      ...(stored.success ? stored.data : settingsSchema.parse({})),
      ...readSetupSettings(paths.usualDataDir),
    });
  }

  get current(): Settings {
    return this.settings;
  }

  async change(change: { [Name in keyof Settings]?: Settings[Name] | undefined }): Promise<Settings> {
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    this.settings = settingsSchema.parse({ ...this.settings, ...given });
    if (Object.keys(setupSettingsSchema.shape).some((name) => name in given)) {
      writeSetupSettings(this.paths.usualDataDir, this.settings);
    }
    await this.library.setSetting(KEY, { ...this.settings });
    this.listeners.tell(this.settings);
    return this.settings;
  }

  subscribe(listener: (settings: Settings) => void): () => void {
    return this.listeners.add(listener);
  }
}
