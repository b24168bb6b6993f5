import { endByForce, threadsLeft } from '../engine/index.ts';
import { runCommandLine } from './commandLine.ts';

// Applies to this process only, whose shebang line sets it; Python's threads allocate far more.
delete process.env['MALLOC_ARENA_MAX'];
process.exitCode = await runCommandLine(process.argv);
// A thread that cannot be ended would keep the process alive, although everything has been printed.
if (threadsLeft() > 0) endByForce();
