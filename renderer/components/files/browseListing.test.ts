import { expect, it } from 'vitest';
import { listed, type ListedEntry } from './browseListing.ts';

const file = (name: string, sizeBytes: number, changedAt: string): ListedEntry => ({
  name,
  path: `/${name}`,
  isFolder: false,
  sizeBytes,
  changedAt,
});
const folder = (name: string): ListedEntry => ({
  name,
  path: `/${name}`,
  isFolder: true,
  sizeBytes: null,
  changedAt: null,
});
const entries = [
  file('sample_10.fa', 5, '2026-01-03'),
  file('notes.docx', 900, '2026-01-04'),
  folder('old'),
  file('sample_9.fastq.gz', 70, '2026-01-01'),
];
const usual = { search: '', order: 'name', onlySequences: true, language: 'en' } as const;
const names = (change: Partial<Parameters<typeof listed>[1]>) =>
  listed(entries, { ...usual, ...change }).map(({ name }) => name);

it('shows folders first, then sequence files in natural order', () => {
  expect(names({})).toEqual(['old', 'sample_9.fastq.gz', 'sample_10.fa']);
});

it('sorts by date and by size, and shows other files on request', () => {
  expect(names({ order: 'newest' })).toEqual(['old', 'sample_10.fa', 'sample_9.fastq.gz']);
  expect(names({ order: 'largest', onlySequences: false })[1]).toBe('notes.docx');
});

it('finds entries that match all words of a search', () => {
  expect(names({ search: 'SAMPLE 9' })).toEqual(['sample_9.fastq.gz']);
});
