import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const WITH_A_SCREEN = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** A Chromium of this computer for the browser tests: CHROMIUM_PATH, else of those in the PATH first the one that only runs headless,
 * which does the same with a quarter less work. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return find(['chromium-headless-shell', ...WITH_A_SCREEN], env);
}

/** For measurements: as users have it. */
export function findChromiumWithScreen(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return find(WITH_A_SCREEN, env);
}

/** For Playwright, which takes its own Chromium where there is no other. */
export function launchOptions(chromium: string | undefined): { executablePath?: string; args: string[] } {
  return {
    ...(chromium === undefined ? {} : { executablePath: chromium }),
    // Chromium refuses its own sandbox to root, which is who one is in most containers.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  };
}

function find(names: readonly string[], env: NodeJS.ProcessEnv): string | undefined {
  const chosen = env['CHROMIUM_PATH'];
  if (chosen) return chosen;
  const folders = (env['PATH'] ?? '').split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
