import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { putOffQuitting } from './putOffQuitting.ts';

const { app, endByForce } = await vi.hoisted(async () => {
  const events = await import('node:events');
  return { app: new events.EventEmitter(), endByForce: vi.fn() };
});
vi.mock('electron', () => ({ app }));
vi.mock(import('../../engine/index.ts'), async (original) => ({ ...(await original()), endByForce }));

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function wantToQuit(): boolean {
  let prevented = false;
  app.emit('before-quit', { preventDefault: () => (prevented = true) });
  return !prevented;
}

it('delays quitting while the engine opens, but not for ever', () => {
  const putOff = putOffQuitting();
  expect(wantToQuit()).toBe(false);
  vi.advanceTimersByTime(10_000);
  expect(endByForce).not.toHaveBeenCalled();
  vi.advanceTimersByTime(60_000);
  expect(endByForce).toHaveBeenCalledOnce();
  expect(putOff.end()).toEqual({ wasWanted: true });
});

it('forces nothing once the engine is open', () => {
  endByForce.mockClear();
  const putOff = putOffQuitting();
  wantToQuit();
  expect(putOff.end()).toEqual({ wasWanted: true });
  vi.advanceTimersByTime(60_000);
  expect(endByForce).not.toHaveBeenCalled();
  expect(wantToQuit()).toBe(true);
});
