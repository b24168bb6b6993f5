import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const WITH_A_SCREEN = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * Finds a Chromium on this computer for the browser tests: CHROMIUM_PATH, otherwise one in the PATH. A
 * headless-only Chromium comes first, since it does the same with a quarter less work.
 */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return find(['chromium-headless-shell', ...WITH_A_SCREEN], env);
}

/** Finds the Chromium that users have, for measurements. */
export function findChromiumWithScreen(env: NodeJS.ProcessEnv = process.env): string | undefined {
  return find(WITH_A_SCREEN, env);
}

/** Launch options for Playwright, which uses its own Chromium if there is no other. */
export function launchOptions(chromium: string | undefined): { executablePath?: string; args: string[] } {
  return {
    ...(chromium === undefined ? {} : { executablePath: chromium }),
    // Chromium refuses to run its own sandbox as root, which is the user in most containers.
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
