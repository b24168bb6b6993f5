import { buildDesktop } from '../../build/buildDesktop.ts';
import { buildWindow } from '../../build/buildWindow.ts';
import bundleForTests from '../../build/checks/bundleForTests.ts';

/** Builds the window, the desktop app and the command line as they are shipped, from the current sources. */
export default async function buildOnce(): Promise<() => void> {
  await buildWindow();
  await buildDesktop();
  return bundleForTests();
}
