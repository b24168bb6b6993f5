import { z } from 'zod';
import { countSchema } from './protocol/common.ts';
import { ALL_FRAME_NAMES, evidenceSchema, predictionSchema, reasonSchema } from './results.ts';

/** Where a column stands: in sequences.tsv, in results.parquet, in exported tables. */
type Table = 'sequences' | 'results' | 'exports';

interface Facts {
  /** Its title in the window and in spreadsheets. */
  readonly heading: Readonly<Record<'en' | 'de', string>>;
  /** What docs/results.md says of it. */
  readonly about: string;
  /** All tables if absent. */
  readonly tables?: readonly Table[];
  /** Only runs of this kind have the column. */
  readonly ofRuns?: 'paired' | 'calibrated' | 'lookingTwice';
  /** Exports have the column only if a selected sequence has a value in this one. */
  readonly needs?: string;
  /** Whole numbers beyond 32 bits. */
  readonly isWide?: boolean;
  /** Width in a spreadsheet, in characters; 12 if absent. */
  readonly width?: number;
  /** The window sorts by it, at the first click in this direction. */
  readonly sort?: 'asc' | 'desc';
}

/**
 * `score` and `share` are float32 from 0 to 1; a spreadsheet shows a share in percent. A `flag` is true or false
 * wherever the format has such values.
 */
type Kind = 'text' | 'integer' | 'score' | 'share' | 'flag';

export interface SequenceColumn extends Facts {
  readonly kind: Kind;
  readonly schema: z.ZodType;
}

const column =
  <const Of extends Kind>(kind: Of) =>
  <Schema extends z.ZodType, const Own extends Facts>(schema: Schema, facts: Own) => ({
    kind,
    schema,
    ...facts,
  });
const text = column('text');
const integer = column('integer');
const score = column('score');
const share = column('share');
const flag = column('flag');

const maybeCount = countSchema.nullable();
const maybeScore = z.number().nullable();

/**
 * All that is said of a sequence, in the order of every table. This list makes the header and the lines of sequences.tsv,
 * results.parquet, the table `sequences` of SQL queries, the rows that the window gets, and the columns of exports. The values come from
 * `sequenceRow` in electron/engine/results/sequenceRow.ts.
 */
export const SEQUENCE_COLUMNS = {
  seqName: text(z.string(), {
    heading: { en: 'Name', de: 'Name' },
    about: 'the first word of the header line',
    width: 32,
    sort: 'asc',
  }),
  header: text(z.string(), {
    heading: { en: 'Header', de: 'Kopfzeile' },
    about: 'the whole header line',
    tables: ['results'],
    sort: 'asc',
  }),
  /** The number of the file; tables have its label. */
  input: text(countSchema, {
    heading: { en: 'File', de: 'Datei' },
    about: 'the file, with as much of its path as tells it from the others',
    width: 22,
    sort: 'asc',
  }),
  row: integer(countSchema, {
    heading: { en: 'No.', de: 'Nr.' },
    about: 'the place in all files together, from 0; exports and the window count from 1 (`no`)',
    tables: ['sequences', 'results'],
    sort: 'desc',
  }),
  length: integer(countSchema, {
    heading: { en: 'Length (bp)', de: 'Länge (bp)' },
    about: 'letters of the sequence',
    isWide: true,
    sort: 'desc',
  }),
  tooShort: flag(z.boolean(), {
    heading: { en: 'Too short', de: 'Zu kurz' },
    about: 'whether it is shorter than 100 bp',
    needs: 'tooShort',
  }),
  virusScore: score(maybeScore, {
    heading: { en: 'Score', de: 'Wert' },
    about: 'the mean virus score of its scored chunks, weighted by their new bases',
    needs: 'virusScore',
    sort: 'desc',
  }),
  prediction: text(predictionSchema, {
    heading: { en: 'Call', de: 'Einstufung' },
    about: '`virus`, `others`, `not_scored` or `failed`',
    width: 14,
    sort: 'desc',
  }),
  /** Whether all chunks of the sequence are computed, so that its call can't change. */
  settled: flag(z.boolean(), {
    heading: { en: 'Settled', de: 'Steht fest' },
    about: 'whether all chunks are computed; also in SQL queries',
    tables: ['exports'],
    needs: 'settled',
    sort: 'asc',
  }),
  /** Null without a call. See `evidenceOf` in electron/engine/results/sequenceRemarks.ts. */
  evidence: text(evidenceSchema.nullable(), {
    heading: { en: 'Evidence', de: 'Beleglage' },
    about: '`weak`, `moderate` or `strong`',
    tables: ['results', 'exports'],
    needs: 'evidence',
    width: 11,
    sort: 'desc',
  }),
  reason: text(reasonSchema, {
    heading: { en: 'Reason', de: 'Grund' },
    about: '`ok`, or [why there is no call](#reasons)',
    width: 18,
    sort: 'asc',
  }),
  nChunks: integer(countSchema, {
    heading: { en: 'Chunks', de: 'Stücke' },
    about: 'chunks',
    sort: 'desc',
  }),
  nChunksScored: integer(countSchema, {
    heading: { en: 'Chunks scored', de: 'Stücke bewertet' },
    about: 'chunks with a score',
  }),
  nChunksViral: integer(countSchema, {
    heading: { en: 'Chunks called virus', de: 'Virale Stücke' },
    about: 'chunks called virus',
  }),
  viralFraction: share(maybeScore, {
    heading: { en: 'Share of chunks called virus', de: 'Anteil viraler Stücke' },
    about: '`n_chunks_viral` of `n_chunks_scored`',
    needs: 'viralFraction',
    sort: 'desc',
  }),
  nBasesScored: integer(countSchema, {
    heading: { en: 'Bases scored', de: 'Basen bewertet' },
    about: 'bases in scored chunks',
    isWide: true,
    needs: 'virusScore',
  }),
  nBasesViral: integer(countSchema, {
    heading: { en: 'Bases called virus', de: 'Virale Basen' },
    about: 'those of them that a chunk called virus was the first to cover',
    isWide: true,
    needs: 'virusScore',
  }),
  bestScore: score(maybeScore, {
    heading: { en: 'Score of best chunk', de: 'Wert des besten Stücks' },
    about: 'the highest virus score of a chunk',
    tables: ['results', 'exports'],
    needs: 'bestScore',
    sort: 'desc',
  }),
  secondScore: score(maybeScore, {
    heading: { en: 'Score of second-best chunk', de: 'Wert des zweitbesten Stücks' },
    about: 'the second-highest',
    tables: ['results', 'exports'],
    needs: 'secondScore',
  }),
  bestChunkStart: integer(maybeCount, {
    heading: { en: 'Best chunk from', de: 'Bestes Stück von' },
    about: 'where the chunk with the highest virus score begins, from 1',
    isWide: true,
    needs: 'bestChunkStart',
    sort: 'asc',
  }),
  bestChunkEnd: integer(maybeCount, {
    heading: { en: 'Best chunk to', de: 'Bestes Stück bis' },
    about: 'its last base',
    isWide: true,
    needs: 'bestChunkEnd',
  }),
  bestFrame: text(z.enum(ALL_FRAME_NAMES).nullable(), {
    heading: { en: 'Frame of best chunk', de: 'Rahmen des besten Stücks' },
    about: 'the frame that decides it, `F1` to `R3`',
    needs: 'bestFrame',
    width: 8,
  }),
  nFramesScored: integer(countSchema, {
    heading: { en: 'Frames scored', de: 'Rahmen bewertet' },
    about: 'frames with a score, over all chunks',
    sort: 'desc',
  }),
  terminalRepeat: text(z.enum(['DTR', 'ITR']).nullable(), {
    heading: { en: 'Terminal repeat', de: 'Endwiederholung' },
    about: '`DTR` or `ITR`: [the end repeats the beginning](#terminal-repeats)',
    needs: 'terminalRepeat',
    width: 10,
  }),
  terminalRepeatLength: integer(maybeCount, {
    heading: { en: 'Repeat (bp)', de: 'Wiederholung (bp)' },
    about: 'its length',
    needs: 'terminalRepeatLength',
  }),
  nChunksLost: integer(countSchema, {
    heading: { en: 'Chunks without open frame', de: 'Stücke ohne offenen Rahmen' },
    about: 'chunks without an open frame',
    needs: 'geneticCodeHint',
  }),
  nChunksLostToTag: integer(countSchema, {
    heading: { en: 'Chunks lost to TAG', de: 'An TAG verlorene Stücke' },
    about: 'those that would have one if TAG were no stop codon',
    needs: 'geneticCodeHint',
  }),
  nChunksLostToTga: integer(countSchema, {
    heading: { en: 'Chunks lost to TGA', de: 'An TGA verlorene Stücke' },
    about: 'those that would have one if TGA were no stop codon',
    needs: 'geneticCodeHint',
  }),
  geneticCodeHint: integer(z.union([z.literal(4), z.literal(15)]).nullable(), {
    heading: { en: 'Genetic code?', de: 'Genetischer Code?' },
    about: '`4` or `15`: [the genetic code that it may need](#another-genetic-code)',
    needs: 'geneticCodeHint',
  }),
  /** The same in every row of a run, so that the window does not get it. */
  model: text(z.string(), {
    heading: { en: 'Model', de: 'Modell' },
    about: 'the model, with its notice if it has one',
    width: 14,
  }),
  /** The joint call of a read and its mate; null if neither has a call, and while either may change. */
  pairScore: score(maybeScore, {
    heading: { en: 'Score of pair', de: 'Wert des Paars' },
    about: 'runs with [read pairs](#read-pairs): the mean score of both reads',
    ofRuns: 'paired',
    needs: 'virusScore',
  }),
  pairPrediction: text(predictionSchema.extract(['virus', 'others']).nullable(), {
    heading: { en: 'Call of pair', de: 'Einstufung des Paars' },
    about: 'runs with read pairs: the call of both reads',
    ofRuns: 'paired',
    needs: 'virusScore',
    width: 14,
  }),
  pValue: score(maybeScore, {
    heading: { en: 'p-value', de: 'p-Wert' },
    about:
      'runs of a [calibrated](#your-own-sequences-with-a-known-answer) model: how often what is no virus scores as high',
    ofRuns: 'calibrated',
    needs: 'virusScore',
  }),
  judgedBy: text(z.string().nullable(), {
    heading: { en: 'Judged by', de: 'Beurteilt mit' },
    about: 'runs with [two chunk lengths](#two-chunk-lengths): those by which its chunks were judged',
    ofRuns: 'lookingTwice',
    needs: 'virusScore',
  }),
  along: text(z.string().nullable(), {
    heading: { en: 'Along the sequence', de: 'Entlang der Sequenz' },
    about:
      'runs with two chunk lengths: its chunks in order, such as `3v1n2u`: virus, other, without a score',
    ofRuns: 'lookingTwice',
    needs: 'virusScore',
    width: 20,
  }),
} as const satisfies Readonly<Record<string, SequenceColumn>>;

type Columns = typeof SEQUENCE_COLUMNS;
export type ColumnKey = keyof Columns;
export const COLUMN_KEYS = Object.keys(SEQUENCE_COLUMNS) as ColumnKey[];
export const sequenceColumn = (key: ColumnKey): SequenceColumn => SEQUENCE_COLUMNS[key];

/** The name in tables: `nChunksLostToTag` is `n_chunks_lost_to_tag`. */
export function columnName(key: ColumnKey): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** What decides which columns a run's tables have. */
export interface RunKind {
  readonly isPaired: boolean;
  readonly isCalibrated: boolean;
  readonly looksTwice: boolean;
}

/** The columns that a table of this run has, in order. */
export function columnsOf(table: Table, { isPaired, isCalibrated, looksTwice }: RunKind): ColumnKey[] {
  const isOfRun = { paired: isPaired, calibrated: isCalibrated, lookingTwice: looksTwice };
  return COLUMN_KEYS.filter((key) => {
    const { tables, ofRuns } = sequenceColumn(key);
    return (tables?.includes(table) ?? true) && (ofRuns === undefined || isOfRun[ofRuns]);
  });
}

/** One sequence with its results: our own summary of a record, which the original tool does not have. */
export const sequenceResultSchema = z
  .object(
    Object.fromEntries(COLUMN_KEYS.map((key) => [key, SEQUENCE_COLUMNS[key].schema])) as {
      [Key in ColumnKey]: Columns[Key]['schema'];
    },
  )
  .omit({ model: true });
export type SequenceResult = z.infer<typeof sequenceResultSchema>;
export type SequenceField = keyof SequenceResult;
export const SEQUENCE_FIELDS = COLUMN_KEYS.filter((key) => key !== 'model');

type SortKey = { [Key in SequenceField]: Columns[Key] extends { sort: string } ? Key : never }[SequenceField];

export const sequenceSortSchema = z.object({
  /** `input` sorts by the name of the file; `header` by name, and then by the rest of the header. */
  by: z.enum(SEQUENCE_FIELDS.filter((key) => 'sort' in SEQUENCE_COLUMNS[key]) as [SortKey, ...SortKey[]]),
  descending: z.boolean(),
});
export type SequenceSort = z.infer<typeof sequenceSortSchema>;
