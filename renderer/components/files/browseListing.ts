import { isSequenceFile, isSheetOfFolder } from '../../../electron/contract/index.ts';
import type { Language } from '../../i18n/index.ts';
import { store, stored } from '../../state/storage.ts';

export interface ListedEntry {
  readonly name: string;
  readonly path: string;
  readonly isFolder: boolean;
  readonly sizeBytes: number | null;
  readonly changedAt: string | null;
}

export const LISTING_ORDERS = ['name', 'newest', 'largest'] as const;
export type ListingOrder = (typeof LISTING_ORDERS)[number];

interface Listing {
  readonly search: string;
  readonly order: ListingOrder;
  readonly onlySequences: boolean;
  readonly language: Language;
}

/** The entries of a folder to show: folders first, then files, each in the chosen order. */
export function listed(
  entries: readonly ListedEntry[],
  { search, order, onlySequences, language }: Listing,
): ListedEntry[] {
  const collator = new Intl.Collator(language, { numeric: true, sensitivity: 'base' });
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const compare = (a: ListedEntry, b: ListedEntry): number => {
    if (order === 'newest') return (b.changedAt ?? '').localeCompare(a.changedAt ?? '');
    if (order === 'largest') return (b.sizeBytes ?? 0) - (a.sizeBytes ?? 0);
    return 0;
  };
  return entries
    .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
    .filter(
      ({ name, isFolder }) => isFolder || !onlySequences || isSequenceFile(name) || isSheetOfFolder(name),
    )
    .toSorted(
      (a, b) => Number(b.isFolder) - Number(a.isFolder) || compare(a, b) || collator.compare(a.name, b.name),
    );
}

const FOLDER_KEY = 'virnucpro.folder';

/** The folder in which something was last chosen. */
export const rememberedFolder = () => stored(FOLDER_KEY);

export const rememberFolder = (folder: string) => store(FOLDER_KEY, folder);
