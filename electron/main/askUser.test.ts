import type { BrowserWindow } from 'electron';
import { afterEach, expect, it, vi } from 'vitest';
import { askUser, type Question } from './askUser.ts';

const { FakeWindow, asked } = vi.hoisted(() => {
  class FakeWindow {
    static readonly open = new Set<FakeWindow>();
    visible = false;
    constructor() {
      FakeWindow.open.add(this);
    }
    show(): void {
      this.visible = true;
    }
    destroy(): void {
      FakeWindow.open.delete(this);
    }
  }
  return { FakeWindow, asked: vi.fn<(parent: { visible: boolean }) => Promise<{ response: number }>>() };
});
vi.mock('electron', () => ({ BrowserWindow: FakeWindow, dialog: { showMessageBox: asked } }));

const question: Question<0 | 1> = {
  ...{ message: '?', detail: '' },
  choices: [
    ['Go', 1],
    ['Stop', 0],
  ],
  cancel: 0,
};
afterEach(() => {
  FakeWindow.open.clear();
});

it('asks above a window that can be seen, even if there was none, and leaves none behind', async () => {
  asked.mockImplementation((parent) => Promise.resolve({ response: parent.visible ? 0 : 1 }));
  expect(await askUser(question)).toBe(1);
  expect(FakeWindow.open.size).toBe(0);

  const hidden = new FakeWindow();
  expect(await askUser(question, hidden as unknown as BrowserWindow)).toBe(1);
  expect([...FakeWindow.open]).toEqual([hidden]);
});

it('leaves no window behind a dialog that fails', async () => {
  asked.mockRejectedValue(new Error('no display'));
  await expect(askUser(question)).rejects.toThrow('no display');
  expect(FakeWindow.open.size).toBe(0);
});
