/** Runs the command line with store threads that get stuck in SQLite. */
import { runCommandLine } from '../commandLine.ts';
import { stores } from '../openEngine.ts';

stores.host = new URL('../../engine/store/testing/endlessHostEntry.ts', import.meta.url);
process.exitCode = await runCommandLine(process.argv);
