import { endByForce, threadsLeft } from '../engine/index.ts';
import { runCommandLine } from './commandLine.ts';

// Applies to this process only, whose shebang line sets it; Python's threads allocate far more.
delete process.env['MALLOC_ARENA_MAX'];
process.exitCode = await runCommandLine(process.argv, storeHost());
// A thread that cannot be ended would keep the process alive, although everything has been printed.
if (threadsLeft() > 0) endByForce();

/**
 * Entry file of the store's threads, bundled beside this file: a thread that loaded this whole file would
 * take 18 MB more.
 */
function storeHost(): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(isSource ? '../engine/store/hostEntry.ts' : './storeHost.mjs', import.meta.url);
}
