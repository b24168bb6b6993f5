import { buildDesktop } from '../../build/buildDesktop.ts';
import { buildWindow } from '../../build/buildWindow.ts';
import bundleForTests from '../../build/checks/bundleForTests.ts';

/** The window, the desktop app and the command line as they ship, of today's sources. */
export default async function buildOnce(): Promise<() => void> {
  await buildWindow();
  await buildDesktop();
  return bundleForTests();
}
