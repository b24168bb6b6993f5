import { expect, it } from 'vitest';
import { shellTexts } from './shellTexts.ts';
import { menuItems } from './window/menu.ts';

it('labels every item of the menu in the language of the window', () => {
  const labels = (language: 'en' | 'de') =>
    menuItems(shellTexts(language), false, () => undefined).flatMap(({ label, submenu }) => [
      label,
      ...(Array.isArray(submenu) ? submenu.map((item) => item.label) : []),
    ]);
  const [english, german] = [labels('en'), labels('de')];
  expect(english.length).toBeGreaterThan(15);
  expect(german).toHaveLength(english.length);
  english.forEach((label, place) => {
    if (label !== undefined) expect(german[place]).not.toBe(label);
  });
});

it('counts as the grammar of the language requires', () => {
  const [en, de] = [shellTexts('en'), shellTexts('de')];
  expect(en('shell.notice.viral', { count: 1 })).toBe('1 sequence called virus');
  expect(de('shell.notice.viral', { count: 1200 })).toBe('1.200 Sequenzen als Virus eingestuft');
  expect(en('shell.close.computed', { done: 1, total: 3, isRead: 'no' })).toMatch(/^1 of 3 or more parts/);
});

/** Only the type checker reads it. */
export function valuesAreChecked(t: ReturnType<typeof shellTexts>) {
  // @ts-expect-error a variable without a value
  t('shell.notice.done');
  // @ts-expect-error a text of the page
  t('nav.runs');
}
