import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { askBesideLog } from '../askUser.ts';
import { shellTexts } from '../shellTexts.ts';
import { WindowKeeper } from './windowKeeper.ts';

const quit = vi.hoisted(() => vi.fn());
vi.mock('electron', () => ({ app: { getGPUFeatureStatus: () => ({}), quit } }));
vi.mock('../askUser.ts', () => ({ askBesideLog: vi.fn(() => Promise.resolve('again')) }));
const asked = vi.mocked(askBesideLog);

beforeEach(() => {
  vi.useFakeTimers();
  asked.mockClear();
});
afterEach(() => {
  vi.useRealTimers();
});

function shown(safeMode = false) {
  const reload = vi.fn();
  const contents = Object.assign(new EventEmitter(), { reload });
  const window = Object.assign(new EventEmitter(), { webContents: contents, isDestroyed: () => false });
  const keeper = new WindowKeeper({
    ...{ safeMode, log: { write: vi.fn() } as never, texts: () => shellTexts('en') },
    ...{ make: () => window as never, mayOpen: () => true, restartInSafeMode: vi.fn() },
  });
  keeper.show();
  const crash = async (afterSeconds: number) => {
    await vi.advanceTimersByTimeAsync(afterSeconds * 1000);
    contents.emit('render-process-gone', {}, { reason: 'crashed', exitCode: 1 });
    await vi.advanceTimersByTimeAsync(1000);
  };
  return { window, reload, crash };
}

it('loads a page that crashes again, and asks at the fourth crash within a minute', async () => {
  const { window, reload, crash } = shown();
  window.emit('ready-to-show');
  for (const seconds of [0, 61, 61, 10, 10]) await crash(seconds);
  expect(reload).toHaveBeenCalledTimes(5);
  expect(asked).not.toHaveBeenCalled();
  await crash(10);
  expect(asked).toHaveBeenCalledOnce();
  // The user has asked for it once more, and the count begins again.
  expect(reload).toHaveBeenCalledTimes(6);
  await crash(1);
  expect(asked).toHaveBeenCalledOnce();
  asked.mockResolvedValueOnce('quit');
  for (let ends = 2; ends <= 4; ends++) await crash(1);
  expect(quit).toHaveBeenCalledOnce();
});

it.each([false, true])('asks when it is not painted; in safe mode: %s', async (safeMode) => {
  shown(safeMode);
  await vi.advanceTimersByTimeAsync(16_000);
  const [question] = asked.mock.lastCall ?? [];
  const answers = question?.choices.map(([, answer]) => answer);
  expect(answers).toEqual([...(safeMode ? [] : ['safe_mode']), 'again', 'quit']);
  expect(question?.detail).toContain('npm run virnucpro -- serve --open');
});
