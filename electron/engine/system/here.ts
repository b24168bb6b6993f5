import { execFileSync } from 'node:child_process';
import { readFileSync, realpathSync, statfsSync } from 'node:fs';
import { release } from 'node:os';
import type { System } from './types.ts';
import { linux, type LinuxCalls } from './linux.ts';
import { macos, type MacosCalls } from './macos.ts';
import { windows, type WindowsCalls } from './windows.ts';

/** The system that this process runs on. */
export const HERE: System = systemOf(process.platform, {
  readText: (file) => readFileSync(file, 'utf8'),
  fileSystemType: (folder) => statfsSync(folder).type,
  hasGlibc,
  outputOf: (file, args) => execFileSync(file, args, { encoding: 'utf8' }),
  // The system's own, which on Windows leads from a mapped drive to its server.
  realPath: (folder) => realpathSync.native(folder),
  kernelRelease: release,
});

/** Such as linux-x64: of the programs that run here. */
export const KIND_HERE = `${process.platform}-${process.arch}`;

/** Node on glibc says which one it runs on. */
function hasGlibc(): boolean {
  // Else the report looks up the names of all open connections.
  Object.assign(process.report, { excludeNetwork: true });
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime !== undefined;
}

/** What each system is asked. In tests a made-up computer answers. */
export type SystemCalls = LinuxCalls & MacosCalls & WindowsCalls;

export function systemOf(platform: NodeJS.Platform, calls: SystemCalls): System {
  if (platform === 'win32') return windows(calls);
  if (platform === 'darwin') return macos(calls);
  // Other systems, such as the BSDs, have no packages; they are treated as the nearest one.
  return { ...linux(calls), platform };
}
