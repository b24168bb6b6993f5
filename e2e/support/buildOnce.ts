import { buildWindow } from '../../build/buildWindow.ts';

/** The window as it ships, of today's sources. */
export default async function buildOnce(): Promise<void> {
  await buildWindow();
}
