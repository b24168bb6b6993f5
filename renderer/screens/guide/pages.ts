import bioinformatician from '../../../docs/guide/bioinformatician.md';
import biologist from '../../../docs/guide/biologist.md';
import firstRunGerman from '../../../docs/guide/first-run.de.md';
import firstRun from '../../../docs/guide/first-run.md';
import requirements from '../../../docs/requirements.md';
import type { Language } from '../../i18n/index.ts';
import type { GuidePage } from '../../state/guidePages.ts';

type Content = typeof firstRun;

/** English for all; other languages where somebody has written them. */
const PAGES: Record<GuidePage, { en: Content; de?: Content }> = {
  'first-run': { en: firstRun, de: firstRunGerman },
  biologist: { en: biologist },
  bioinformatician: { en: bioinformatician },
  requirements: { en: requirements },
};

/** A page in the window's language, or else in English. */
export function guidePage(page: GuidePage, language: Language): Content & { readonly language: Language } {
  const inLanguage = PAGES[page][language];
  return inLanguage ? { ...inLanguage, language } : { ...PAGES[page].en, language: 'en' };
}
