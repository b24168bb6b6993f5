/** The command line with store threads that SQLite does not come back to. */
import { runCommandLine } from '../commandLine.ts';

process.exitCode = await runCommandLine(
  process.argv,
  new URL('../../engine/store/testing/endlessHostEntry.ts', import.meta.url),
);
