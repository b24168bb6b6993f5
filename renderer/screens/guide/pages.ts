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
    '../../../docs/requirements.md',
    '../../../docs/results.md',
    '../../../docs/troubleshooting.md',
    '../../../resources/teaching-model/MODEL_CARD.md',
  ],
  { eager: true, import: 'default' },
);

const contents = new Map(
  Object.entries(FILES).map(([path, content]) => [path.replace(/^.*\/|\.md$/g, ''), content]),
);

export function guidePage(page: GuidePage): Content {
  const content = contents.get(page);
  if (!content) throw new Error(`docs/ has no page ${page}`);
  return content;
}
