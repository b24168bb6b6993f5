import { execFileSync } from 'node:child_process';
import { readFileSync, realpathSync, statfsSync } from 'node:fs';
import { release } from 'node:os';
import type { System } from './types.ts';
import { linux, type LinuxCalls } from './linux.ts';
import { macos, type MacosCalls } from './macos.ts';
import { windows, type WindowsCalls } from './windows.ts';

export const HERE: System = systemOf(process.platform, {
  readText: (file) => readFileSync(file, 'utf8'),
  fileSystemType: (folder) => statfsSync(folder).type,
  hasGlibc,
  outputOf: (file, args) => execFileSync(file, args, { encoding: 'utf8' }),
  // The system's own call, which on Windows resolves a mapped drive to its server.
  realPath: (folder) => realpathSync.native(folder),
  kernelRelease: release,
});

/** The kind of programs that run here, such as linux-x64. */
export const KIND_HERE = `${process.platform}-${process.arch}`;

/** Node on glibc reports its version of glibc. */
function hasGlibc(): boolean {
  // Without this the report looks up the host names of all open connections.
  Object.assign(process.report, { excludeNetwork: true });
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime !== undefined;
}

/** The system calls behind the answers. Tests substitute a made-up computer. */
export type SystemCalls = LinuxCalls & MacosCalls & WindowsCalls;

export function systemOf(platform: NodeJS.Platform, calls: SystemCalls): System {
  if (platform === 'win32') return windows(calls);
  if (platform === 'darwin') return macos(calls);
  // There are no packages for other systems, such as the BSDs; they are treated like the nearest one.
  return { ...linux(calls), platform };
}
