import { expect, it } from 'vitest';
import { createTexts } from '../../i18n/index.ts';
import { modelNotice, modelTitle } from './modelTexts.ts';

const de = createTexts('de');
const teaching = { title: 'Teaching model', notice: 'teaching model, not for research' };

it('shows the texts of bundled models in the language of the window, in lists and in runs', () => {
  for (const model of [
    { ...teaching, id: 'teaching', kind: 'teaching' },
    { ...teaching, name: 'teaching' },
  ] as const) {
    expect(modelTitle(model, de)).toBe('Lehrmodell');
    expect(modelNotice(model, de)).toBe('Lehrmodell, nicht für die Forschung.');
  }
  const published = { id: '500', kind: 'published', title: 'VirNucPro, 500-bp model', notice: null } as const;
  expect(modelTitle(published, de)).toBe('VirNucPro, Modell für 500 bp');
  expect(modelNotice(published, de)).toBeNull();
});

it('keeps the names that owners gave to imported models', () => {
  const own = { id: '/models/500', kind: 'imported', title: 'Gut phages', notice: 'not validated' } as const;
  expect(modelTitle(own, de)).toBe('Gut phages');
  expect(modelNotice(own, de)).toBe('Not validated.');
  expect(modelTitle({ name: '500', title: 'Mine', notice: null }, de)).toBe('Mine');
});
