import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The Chromium that users have, for measurements. */
export const WITH_A_SCREEN = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * Finds a Chromium on this computer for the browser tests: CHROMIUM_PATH, otherwise one in the PATH. A
 * headless-only Chromium comes first, since it does the same with a quarter less work.
 */
export function findChromium(names = ['chromium-headless-shell', ...WITH_A_SCREEN]): string | undefined {
  const { CHROMIUM_PATH: chosen, PATH: path = '' } = process.env;
  if (chosen) return chosen;
  return names.flatMap((name) => path.split(delimiter).map((folder) => join(folder, name))).find(existsSync);
}

/** Launch options for Playwright, which uses its own Chromium if there is no other. */
export function launchOptions(chromium: string | undefined): { executablePath?: string; args: string[] } {
  return {
    ...(chromium === undefined ? {} : { executablePath: chromium }),
    // Chromium refuses to run its own sandbox as root, which is the user in most containers.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  };
}
