import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { COMMAND_LINE_VARIABLE } from '../../electron/cli/testing/commandLineProcess.ts';
import { bundleCommandLine } from '../bundleCommandLine.ts';

/** The command line as it ships, of today's sources: tests start it a hundred times, and so it starts in half the time. Answers with
 * what removes it again. */
export default async function bundleForTests(): Promise<() => void> {
  const folder = join(import.meta.dirname, '..', '..', 'dist', 'tests', String(process.pid));
  await bundleCommandLine(folder, `${process.platform}-${process.arch}`);
  process.env[COMMAND_LINE_VARIABLE] = join(folder, 'virnucpro.mjs');
  return () => rmSync(folder, { recursive: true, force: true });
}
