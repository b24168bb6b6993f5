import { z } from 'zod';
import { CANDIDATES } from './evidence.ts';
import { wordSchema, LIMITS } from './limits.ts';
import { modelMark, MARK_SUFFIX, type PlanModel } from './plan.ts';
import type { SequenceFilter } from './filter.ts';
import type { RunState } from './runState.ts';

export const exportLanguageSchema = z.enum(['en', 'de']);
export type ExportLanguage = z.infer<typeof exportLanguageSchema>;

/** The sequences that a report lists. */
export const reportListSchema = z.enum(['shortlist', 'candidates', 'virus']);
export type ReportList = z.infer<typeof reportListSchema>;

/**
 * What a window shows of a format, and how its files are named; the engine has one object per format
 * (electron/engine/exports/exportResults.ts).
 */
export const exportFormatSchema = z.object({
  id: wordSchema,
  /** The end of the file's name: `.tsv`, `_report.html`. */
  ending: wordSchema,
  /** Whether the dialog of exports offers it; the report has its own, and a run writes its tables itself. */
  isOffered: z.boolean(),
  /** Whether it always holds the whole run, whatever is selected. */
  isOfWholeRun: z.boolean(),
  /** Whether it is available only for runs that kept their embeddings. */
  needsEmbeddings: z.boolean(),
  texts: z.record(z.enum(['en', 'de']), z.object({ label: z.string(), text: z.string() })),
});
export type ExportFormat = z.infer<typeof exportFormatSchema>;

type ExportScope = 'all' | 'virus' | 'candidates' | 'shortlist' | 'selected';

/** What a filter selects, as one word for a file's name. */
export function exportScope(filter: SequenceFilter, rows?: readonly number[]): ExportScope {
  if (rows !== undefined) return 'selected';
  const set = Object.entries(filter).filter(([, value]) => value !== undefined);
  if (set.length === 0) return 'all';
  const isExactly = (wanted: SequenceFilter) =>
    set.length === Object.keys(wanted).length &&
    set.every(
      ([key, value]) => JSON.stringify(value) === JSON.stringify(wanted[key as keyof SequenceFilter]),
    );
  if (isExactly({ predictions: ['virus'] })) return 'virus';
  if (isExactly({ shortlisted: true })) return 'shortlist';
  return isExactly(CANDIDATES) ? 'candidates' : 'selected';
}

const LONGEST_STEM = 80;

/** Marks the name of a file that was exported before its run was done. */
const PROVISIONAL_SUFFIX = '_provisional';

interface RunFile {
  runName: string;
  model: Pick<PlanModel, 'notice'>;
  state: RunState;
}

/**
 * How the name of every file that leaves a run begins: `Gut_March`, plus a mark where the model is not for
 * research or the results are provisional.
 */
export function runFileStem({ runName, model, state }: RunFile): string {
  const stem =
    runName
      .replaceAll(/[^\p{L}\p{N}._-]+/gu, '_')
      .replace(/^[._]+/, '')
      .slice(0, LONGEST_STEM) || 'run';
  const mark = modelMark(model) === null || stem.endsWith(MARK_SUFFIX) ? '' : MARK_SUFFIX;
  return `${stem}${mark}${state.phase === 'done' ? '' : PROVISIONAL_SUFFIX}`;
}

/** The name of an exported file, which says what the file holds: `Gut_March_virus_1707.tsv`. */
export function exportFileName(
  file: RunFile & {
    format: Pick<ExportFormat, 'ending' | 'isOfWholeRun'>;
    scope: ExportScope;
    sequences: number;
  },
): string {
  const { format, scope, sequences } = file;
  const holds = format.isOfWholeRun ? '' : `_${scope}_${sequences}`;
  return `${runFileStem(file)}${holds}${format.ending}`;
}

/**
 * A search at NCBI, nucleotide against nucleotide or protein against protein. Without a query, only the
 * search page is opened.
 */
export const blastSearchSchema = z
  .object({
    program: z.enum(['blastn', 'blastp']),
    query: z
      .string()
      .max(LIMITS.url)
      .regex(/^[A-Za-z*-]*$/),
  })
  .refine((search) => blastAddress(search).length <= LIMITS.url, 'The sequence is too long for an address.');
export type BlastSearch = z.infer<typeof blastSearchSchema>;

/**
 * The address of the search page with the letters filled in. The search starts only when the user presses the
 * button there.
 */
export function blastAddress({ program, query }: { program: string; query: string }): string {
  const address = new URL('https://blast.ncbi.nlm.nih.gov/Blast.cgi');
  address.searchParams.set('PAGE_TYPE', 'BlastSearch');
  address.searchParams.set('PROGRAM', program);
  if (query !== '') address.searchParams.set('QUERY', query);
  return address.href;
}

/** What to cite with results, as CITATION.cff lists it; a test keeps the two equal. */
export const CITATIONS = [
  {
    subject: 'VirNucPro',
    authors: 'Li J, Mi J, Lin W, Tian F, Wan J, Gao J, Tong Y',
    year: 2025,
    title:
      'VirNucPro: an identifier for the identification of viral short sequences using six-frame translation and large language models',
    source: 'Briefings in Bioinformatics 26(3), bbaf224',
    id: '10.1093/bib/bbaf224',
    url: 'https://doi.org/10.1093/bib/bbaf224',
  },
  {
    subject: 'ESM-2',
    authors:
      'Lin Z, Akin H, Rao R, Hie B, Zhu Z, Lu W, Smetanin N, Verkuil R, Kabeli O, Shmueli Y, dos Santos Costa A, Fazel-Zarandi M, ' +
      'Sercu T, Candido S, Rives A',
    year: 2023,
    title: 'Evolutionary-scale prediction of atomic-level protein structure with a language model',
    source: 'Science 379(6637), 1123-1130',
    id: '10.1126/science.ade2574',
    url: 'https://doi.org/10.1126/science.ade2574',
  },
  {
    subject: 'DNABERT-S',
    authors: 'Zhou Z, Wu W, Ho H, Wang J, Shi L, Davuluri RV, Wang Z, Liu H',
    year: 2025,
    title: 'DNABERT-S: Pioneering Species Differentiation with Species-Aware DNA Embeddings',
    source: 'Bioinformatics 41, i255-i264',
    id: 'arXiv:2402.08777',
    url: 'https://doi.org/10.48550/arXiv.2402.08777',
  },
] as const;
