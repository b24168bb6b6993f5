import { chmodSync } from 'node:fs';
import { quotedForShell } from '../../../contract/terminal/quotedForShell.ts';
import type { EngineContext } from '../../engineContext.ts';
import { pathInRun, replaceInRun } from '../../files/runFiles.ts';

const PROGRAM = 'work/virnucpro';
const EXECUTABLE = 0o755;

/**
 * Leaves in the run's folder what starts this very program on a node, with the same settings and the same Python. It is written
 * before each use, so that nothing which lay in the folder is ever run. Null for the desktop app, which nodes cannot start: they need
 * a `virnucpro` of their own.
 */
export function writeOwnProgram(folder: string, { environment }: EngineContext): string | null {
  const [, script] = process.argv;
  if ('electron' in process.versions || script === undefined) return null;
  const own = Object.entries(process.env).flatMap(([name, value = '']) =>
    name.startsWith('VIRNUCPRO_') ? [[name, value] as const] : [],
  );
  const settings = { ...Object.fromEntries(own), VIRNUCPRO_PYTHON: environment.interpreter };
  const command = [process.execPath, ...process.execArgv, script].map(quotedForShell).join(' ');
  const lines = [
    '#!/bin/sh',
    ...Object.entries(settings).map(([name, value]) => `export ${name}=${quotedForShell(value)}`),
    `exec ${command} "$@"`,
  ];
  replaceInRun(folder, PROGRAM, Buffer.from(`${lines.join('\n')}\n`));
  const path = pathInRun(folder, PROGRAM);
  chmodSync(path, EXECUTABLE);
  return path;
}
