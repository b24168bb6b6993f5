import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { WindowSessions } from './windowSessions.ts';
import { temporaryFolder } from '../engine/testing/temporaryFolder.ts';

const DAY_MS = 24 * 60 * 60_000;
let folder: string;
let file: string;
beforeEach(() => {
  vi.useFakeTimers();
  folder = temporaryFolder();
  file = join(folder, 'sessions.json');
});
afterEach(() => void vi.useRealTimers());

/** The name and value of the cookie that a browser sends back. */
function enter(sessions: WindowSessions): string {
  return sessions.enter(sessions.currentToken)?.split(';')[0] ?? '';
}

it('recognises a browser after a restart, but not a cookie made for one run of the server', () => {
  const before = new WindowSessions(4170, file);
  const unsaved = before.letIn();
  const browser = enter(before);
  expect([before.knows(unsaved), before.knows(browser)]).toEqual([true, true]);
  expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')) as object)).toHaveLength(1);
  const after = new WindowSessions(4170, file);
  expect([after.knows(unsaved), after.knows(browser)]).toEqual([false, true]);
});

it('forgets a browser after a week without contact, also while the server runs', () => {
  const sessions = new WindowSessions(4170, file);
  const [daily, gone] = [enter(sessions), enter(sessions)];
  for (let day = 0; day < 8; day++) {
    vi.advanceTimersByTime(DAY_MS);
    expect(sessions.knows(daily)).toBe(true);
  }
  expect(sessions.knows(gone)).toBe(false);
});
