import type { BrowserWindow } from 'electron';
import type { Service, ShellLog } from '../../engine/index.ts';

/** The program checks what it needs of Electron and of this computer. */
export const SELF_CHECK_SWITCH = '--self-check';
/** With it, the self-check sets Python up first where it is missing, so that the example can be computed. */
export const SET_UP_SWITCH = '--set-up';

export interface Checked {
  service: Service;
  window: BrowserWindow;
  log: ShellLog;
  /** Whether Electron was ready before the main module had registered everything. */
  wasReady: boolean;
}

/** What a point found, in a few words, or why it does not apply here. Throws if it does not hold. */
type Finding = string | { skipped: string };

export interface Point {
  what: string;
  check: (checked: Checked) => Promise<Finding> | Finding;
  /** For what installs or computes. */
  withinMs?: number;
}

/** Throws with these words unless it holds. */
export function expectThat(holds: boolean, words: string): asserts holds {
  if (!holds) throw new Error(words);
}

const LOOK_EVERY_MS = 100;

/** Resolves once it holds; the point's own limit ends the wait. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
}
