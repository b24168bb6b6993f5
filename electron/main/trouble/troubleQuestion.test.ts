import { expect, it } from 'vitest';
import { troubleQuestion } from './troubleQuestion.ts';

it('offers safe mode once, the browser always, and does nothing when it is dismissed', () => {
  const first = troubleQuestion('not_painted', false);
  expect(first.answers).toEqual(['safe_mode', 'browser', 'wait', 'log', 'quit']);
  expect(first.answers[first.cancelId]).toBe('wait');
  const again = troubleQuestion('keeps_ending', true);
  expect(again.answers).toEqual(['browser', 'reload', 'log', 'quit']);
  expect(again.answers[again.cancelId]).toBe('reload');
  expect(again.buttons).toHaveLength(again.answers.length);
});
