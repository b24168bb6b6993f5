import { expect, it, vi } from 'vitest';
import { troubleQuestion, ReloadPolicy } from './windowKeeper.ts';
import { shellTexts } from '../shellTexts.ts';

vi.mock('electron', () => ({ app: {} }));

it('reloads a page three times with growing delays, and then no more', () => {
  const policy = new ReloadPolicy();
  const delays = [0, 10, 20, 30, 40].map((second) => policy.next(second * 1000));
  expect(delays).toEqual([0, 1_000, 5_000, undefined, undefined]);
});

it('does not count crashes more than a minute ago, or those before the user reloaded', () => {
  const policy = new ReloadPolicy();
  expect([0, 61, 122, 183].map((second) => policy.next(second * 1000))).toEqual([0, 0, 0, 0]);
  policy.next(184_000);
  policy.forget();
  expect(policy.next(185_000)).toBe(0);
});

it('offers safe mode once, the browser always, and does nothing when dismissed', () => {
  const first = troubleQuestion('not_painted', false, shellTexts('en'));
  expect(first.choices.map(([, answer]) => answer)).toEqual(['safe_mode', 'browser', 'wait', 'log', 'quit']);
  expect(first.cancel).toBe('wait');
  const again = troubleQuestion('keeps_ending', true, shellTexts('de'));
  expect(again.choices.map(([, answer]) => answer)).toEqual(['browser', 'reload', 'log', 'quit']);
  expect(again.cancel).toBe('reload');
});
