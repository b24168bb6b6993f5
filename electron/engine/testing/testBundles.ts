import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Set to the folder of what the tests' runner has bundled. */
export const BUNDLES_VARIABLE = 'VIRNUCPRO_TEST_BUNDLES';

/** A bundle of the test runner; of the sources, where nothing is bundled. */
export function testBundle(name: string, source: URL): URL {
  const folder = process.env[BUNDLES_VARIABLE];
  return folder === undefined ? source : pathToFileURL(join(folder, name));
}
