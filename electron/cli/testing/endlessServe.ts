/** Runs the command line with store threads that get stuck in SQLite. */
import { runCommandLine } from '../commandLine.ts';

process.exitCode = await runCommandLine(
  process.argv,
  new URL('../../engine/store/testing/endlessHostEntry.ts', import.meta.url),
);
