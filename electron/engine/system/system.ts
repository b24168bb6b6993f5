import { linux, type LinuxCalls } from './linux.ts';
import { macos, type MacosCalls } from './macos.ts';
import type { System } from './types.ts';
import { windows, type WindowsCalls } from './windows.ts';

/** What each system is asked. In tests a made-up computer answers. */
export type SystemCalls = LinuxCalls & MacosCalls & WindowsCalls;

export function systemOf(platform: NodeJS.Platform, calls: SystemCalls): System {
  if (platform === 'win32') return windows(calls);
  if (platform === 'darwin') return macos(calls);
  // Other systems, such as the BSDs, have no packages; they are treated as the nearest one.
  return { ...linux(calls), platform };
}
