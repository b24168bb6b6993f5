import { expect, it } from 'vitest';
import { createTexts } from '../../i18n/index.ts';
import { modelNotice, modelTitle } from './modelTexts.ts';

const de = createTexts('de');
const demo = { title: 'Demo model', notice: 'demo model, no biological meaning' };

it('says what comes with the program in the language of the window, in lists and in runs', () => {
  for (const model of [
    { ...demo, id: 'demo', kind: 'demo' },
    { ...demo, name: 'demo' },
  ] as const) {
    expect(modelTitle(model, de)).toBe('Demo-Modell');
    expect(modelNotice(model, de)).toBe('Demo-Modell ohne biologische Bedeutung.');
  }
  const published = { id: '500', kind: 'published', title: 'VirNucPro, 500-bp model', notice: null } as const;
  expect(modelTitle(published, de)).toBe('VirNucPro, Modell für 500 bp');
  expect(modelNotice(published, de)).toBeNull();
});

it('leaves to imported models what their owners call them', () => {
  const own = { id: '/models/500', kind: 'imported', title: 'Gut phages', notice: 'not validated' } as const;
  expect(modelTitle(own, de)).toBe('Gut phages');
  expect(modelNotice(own, de)).toBe('Not validated.');
  expect(modelTitle({ name: '500', title: 'Mine', notice: null }, de)).toBe('Mine');
});
