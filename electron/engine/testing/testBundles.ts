import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The test runner sets this variable to the folder with its bundles. */
export const BUNDLES_VARIABLE = 'VIRNUCPRO_TEST_BUNDLES';

/** Returns the bundle that the test runner made, or the source if nothing was bundled. */
export function testBundle(name: string, source: URL): URL {
  const folder = process.env[BUNDLES_VARIABLE];
  return folder === undefined ? source : pathToFileURL(join(folder, name));
}
