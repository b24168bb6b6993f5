import type { Language } from '../../i18n/index.ts';
import type { GuidePage } from '../../state/guidePages.ts';

interface Content {
  readonly title: string;
  readonly html: string;
  /** Titles of the page's parts, in order; `part-N` is the anchor of each. */
  readonly parts: readonly string[];
}

const FILES = import.meta.glob<Content>(
  [
    '../../../docs/guide/*.md',
    '../../../docs/requirements*.md',
    '../../../docs/results*.md',
    '../../../docs/troubleshooting*.md',
    '../../../resources/teaching-model/MODEL_CARD.md',
  ],
  { eager: true, import: 'default' },
);

const contents = new Map(
  Object.entries(FILES).map(([path, content]) => [path.replace(/^.*\//, ''), content]),
);

function contentOf(page: GuidePage, language: Language): Content | undefined {
  return contents.get(language === 'en' ? `${page}.md` : `${page}.${language}.md`);
}

/** A page in the window's language, or else in English. */
export function guidePage(page: GuidePage, language: Language): Content & { readonly language: Language } {
  const inLanguage = contentOf(page, language);
  if (inLanguage) return { ...inLanguage, language };
  const inEnglish = contentOf(page, 'en');
  if (!inEnglish) throw new Error(`docs/ has no page ${page}`);
  return { ...inEnglish, language: 'en' };
}
