/**
 * Runs the script named by the first argument with the command line and the store's threads as they are
 * shipped: started from the sources, every thread uses 20 MB more, because it has to read TypeScript.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import bundleForTests from './bundleForTests.ts';

const [script = ''] = process.argv.splice(2, 1);
const removeBundles = await bundleForTests();
try {
  await import(pathToFileURL(resolve(import.meta.dirname, '..', '..', script)).href);
} finally {
  removeBundles();
}
