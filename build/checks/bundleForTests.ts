import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { BUNDLES_VARIABLE } from '../../electron/engine/testing/testBundles.ts';
import { bundleCommandLine } from '../bundleCommandLine.ts';

/**
 * Bundles the command line and the store's threads as they are shipped, from the current sources: tests start
 * them hundreds of times, and the bundles start in half the time. Returns a function that removes them.
 */
export default async function bundleForTests(): Promise<() => void> {
  const folder = join(import.meta.dirname, '..', '..', 'dist', 'tests', String(process.pid));
  const target = `${process.platform}-${process.arch}`;
  await bundleCommandLine(folder, target);
  process.env[BUNDLES_VARIABLE] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
