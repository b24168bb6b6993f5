import { z } from 'zod';
import { countSchema, otherGeneticCodeSchema } from './protocol/common.ts';
import { ALL_FRAME_NAMES, evidenceSchema, predictionSchema, reasonSchema } from './results.ts';

/** Where a column stands: in sequences.tsv, in results.parquet, in exported tables. */
type Table = 'sequences' | 'results' | 'exports';

/** In a language: its title in the window and in spreadsheets, what it means (docs/results.md says so, too), and what more its title in the window tells. */
type Words = readonly [heading: string, meaning: string, more?: string];

type Comparison = '>=' | '<=' | '<';
type ValueWords = Readonly<Record<'en' | 'de', string>>;

interface Facts {
  readonly en: Words;
  readonly de: Words;
  /** All tables if absent. */
  readonly tables?: readonly Table[];
  /** Only runs of this kind have the column. */
  readonly ofRuns?: 'paired' | 'calibrated' | 'lookingTwice';
  /** The only table of which `ofRuns` holds. */
  readonly ofRunsIn?: Table;
  /** Exports have the column only if a selected sequence has a value in this one. */
  readonly needs?: string;
  /** Whole numbers beyond 32 bits. */
  readonly isWide?: boolean;
  /** Width in a spreadsheet, in characters; 12 if absent. */
  readonly width?: number;
  /** The window sorts by it, at the first click in this direction. */
  readonly sort?: 'asc' | 'desc';
  /** The window shows it before anyone chooses columns. */
  readonly isShown?: true;
  /** Its name in `--sort` and `--filter`, if not that of the tables. */
  readonly word?: string;
  /** Filters can limit it: the names of these fields. */
  readonly limits?: Readonly<Partial<Record<Comparison, string>>>;
  /** What its values are called. */
  readonly words?: Readonly<Record<string, ValueWords>>;
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

const CALL_WORDS = {
  virus: { en: 'Virus', de: 'Virus' },
  others: { en: 'Other', de: 'Anderes' },
  not_scored: { en: 'Not scored', de: 'Nicht bewertet' },
  failed: { en: 'Failed', de: 'Gescheitert' },
};

/**
 * All that is said of a sequence, in the order of every table. This list makes the header and the lines of sequences.tsv,
 * results.parquet, the table `sequences` of SQL queries, the rows that the window gets, and the columns of exports. The values come from
 * `sequenceRow` in electron/engine/results/sequenceRow.ts.
 */
export const SEQUENCE_COLUMNS = {
  seqName: text(z.string(), {
    en: ['Name', 'the first word of the header line'],
    de: ['Name', 'das erste Wort der Kopfzeile'],
    width: 32,
    sort: 'asc',
    isShown: true,
    word: 'name',
  }),
  header: text(z.string(), {
    en: ['Header', 'the whole header line'],
    de: ['Kopfzeile', 'die ganze Kopfzeile'],
    tables: ['results'],
    sort: 'asc',
  }),
  /** The number of the file; tables have its label. */
  input: text(countSchema, {
    en: ['File', 'the file, with as much of its path as tells it from the others'],
    de: ['Datei', 'die Datei, mit so viel von ihrem Pfad, wie sie von den anderen unterscheidet'],
    width: 22,
    sort: 'asc',
    word: 'file',
  }),
  row: integer(countSchema, {
    en: ['No.', 'the place in all files together, from 0; exports and the window count from 1 (`no`)'],
    de: ['Nr.', 'der Platz in allen Dateien zusammen'],
    tables: ['sequences', 'results'],
    sort: 'desc',
    word: 'no',
  }),
  length: integer(countSchema, {
    en: [
      'Length (bp)',
      'letters of the sequence',
      '“Short”: shorter than what the model was trained on, and scored as one shorter chunk.',
    ],
    de: [
      'Länge (bp)',
      'Buchstaben der Sequenz',
      '„Kurz“: kürzer als das, worauf das Modell trainiert ist, und als ein kürzeres Stück bewertet.',
    ],
    isWide: true,
    sort: 'desc',
    isShown: true,
    limits: { '>=': 'minLength', '<=': 'maxLength' },
  }),
  tooShort: flag(z.boolean(), {
    en: ['Too short', 'whether it is shorter than 100 bp'],
    de: ['Zu kurz', 'ob sie kürzer als 100 bp ist'],
    needs: 'tooShort',
    words: {
      true: { en: 'too short', de: 'zu kurz' },
      false: { en: '', de: '' },
    },
  }),
  virusScore: score(maybeScore, {
    en: [
      'Score',
      'the mean virus score of its scored chunks, weighted by their new bases',
      'It ranks sequences. It is not a probability: in a metagenome viruses are far rarer than they were in training.',
    ],
    de: [
      'Wert',
      'das Mittel der Viruswerte ihrer bewerteten Stücke, gewichtet mit deren neuen Basen',
      'Er ordnet die Sequenzen. Er ist keine Wahrscheinlichkeit: In einem Metagenom sind Viren weit seltener als in den Trainingsdaten.',
    ],
    needs: 'virusScore',
    sort: 'desc',
    isShown: true,
    word: 'score',
    limits: { '>=': 'minScore', '<': 'belowScore' },
  }),
  prediction: text(predictionSchema, {
    en: [
      'Call',
      '`virus`, `others`, `not_scored` or `failed`',
      'Virus from a score of 0.5 on. A chunk is called what its most decided reading frame says, and has the virus score of this frame.',
    ],
    de: [
      'Einstufung',
      'Virus, anderes, nicht bewertet oder gescheitert',
      'Virus ab einem Wert von 0,5. Ein Stück wird eingestuft, wie es der entschiedenste seiner Leserahmen sagt, und hat dessen Viruswert.',
    ],
    width: 14,
    sort: 'desc',
    isShown: true,
    word: 'call',
    words: CALL_WORDS,
  }),
  margin: score(maybeScore, {
    en: ['Margin', '[how little would turn the call](#the-margin-of-a-call)', 'Rounding by half of it can.'],
    de: ['Abstand', 'wie wenig die Einstufung umkehren würde', 'Eine Rundung um die Hälfte davon kann es.'],
    tables: ['results', 'exports'],
    needs: 'margin',
  }),
  /** Whether all chunks of the sequence are computed, so that its call can't change. */
  settled: flag(z.boolean(), {
    en: ['Final', 'whether all chunks are computed; also in SQL queries', 'Else the call may change.'],
    de: ['Endgültig', 'ob alle Stücke berechnet sind', 'Sonst kann sich die Einstufung ändern.'],
    tables: ['exports'],
    needs: 'settled',
    sort: 'asc',
    isShown: true,
    words: {
      true: { en: 'final', de: 'endgültig' },
      false: { en: 'may change', de: 'kann sich ändern' },
    },
  }),
  /** Null without a call. See `evidenceOf` in electron/engine/results/sequenceRemarks.ts. */
  evidence: text(evidenceSchema.nullable(), {
    en: ['Evidence', '`undecided`, `weak`, `moderate` or `strong`'],
    de: ['Beleglage', 'unentschieden, schwach, mittel oder stark'],
    tables: ['results', 'exports'],
    needs: 'evidence',
    width: 11,
    sort: 'desc',
    isShown: true,
    words: {
      undecided: { en: 'Undecided', de: 'Unentschieden' },
      weak: { en: 'Weak', de: 'Schwach' },
      moderate: { en: 'Moderate', de: 'Mittel' },
      strong: { en: 'Strong', de: 'Stark' },
    },
  }),
  reason: text(reasonSchema, {
    en: ['Reason', '`ok`, or [why there is no call](#reasons)'],
    de: ['Grund', 'warum es keine Einstufung gibt'],
    width: 18,
    sort: 'asc',
    words: {
      ok: { en: 'Scored', de: 'Bewertet' },
      empty: { en: 'Empty', de: 'Leer' },
      below_min_length: { en: 'Below minimum length', de: 'Unter der Mindestlänge' },
      no_open_frame: { en: 'No open reading frame', de: 'Kein offener Leserahmen' },
      invalid_characters: { en: 'Invalid characters', de: 'Ungültige Zeichen' },
      malformed_record: { en: 'Damaged entry', de: 'Beschädigter Eintrag' },
      worker_failure: { en: 'Computation failed', de: 'Berechnung gescheitert' },
      out_of_memory: { en: 'Out of memory', de: 'Speicher reichte nicht' },
      non_finite: { en: 'Numbers out of range', de: 'Zahlen außerhalb des Bereichs' },
      not_computed: { en: 'Not computed', de: 'Nicht berechnet' },
    },
  }),
  nChunks: integer(countSchema, {
    en: ['Chunks', 'chunks'],
    de: ['Stücke', 'Stücke'],
    sort: 'desc',
    word: 'chunks',
  }),
  nChunksScored: integer(countSchema, {
    en: ['Chunks scored', 'chunks with a score', 'A chunk without an open reading frame has none.'],
    de: ['Stücke bewertet', 'Stücke mit einem Wert', 'Ein Stück ohne offenen Leserahmen hat keinen.'],
    word: 'chunks',
    limits: { '>=': 'minScoredChunks' },
  }),
  nChunksViral: integer(countSchema, {
    en: ['Chunks called virus', 'chunks called virus'],
    de: ['Virale Stücke', 'als Virus eingestufte Stücke'],
  }),
  viralFraction: share(maybeScore, {
    en: ['Share of chunks called virus', 'of the scored chunks, the share called virus'],
    de: ['Anteil viraler Stücke', 'der Anteil der bewerteten Stücke, die als Virus eingestuft sind'],
    needs: 'viralFraction',
    sort: 'desc',
    word: 'viral',
    limits: { '>=': 'minViralFraction' },
  }),
  nBasesScored: integer(countSchema, {
    en: ['Bases scored', 'bases in scored chunks'],
    de: ['Basen bewertet', 'Basen in bewerteten Stücken'],
    isWide: true,
    needs: 'virusScore',
  }),
  nBasesViral: integer(countSchema, {
    en: ['Bases called virus', 'those of them that a chunk called virus was the first to cover'],
    de: ['Virale Basen', 'bewertete Basen, die ein als Virus eingestuftes Stück als erstes abdeckt'],
    isWide: true,
    needs: 'virusScore',
  }),
  bestScore: score(maybeScore, {
    en: ['Score of best chunk', 'the highest virus score of a chunk'],
    de: ['Wert des besten Stücks', 'der höchste Viruswert eines Stücks'],
    tables: ['results', 'exports'],
    needs: 'bestScore',
    sort: 'desc',
    word: 'best',
  }),
  secondScore: score(maybeScore, {
    en: ['Score of second-best chunk', 'the second-highest'],
    de: ['Wert des zweitbesten Stücks', 'der zweithöchste'],
    tables: ['results', 'exports'],
    needs: 'secondScore',
    word: 'second',
    limits: { '>=': 'minSecondScore' },
  }),
  bestChunkStart: integer(maybeCount, {
    en: ['Best chunk from', 'where the chunk with the highest virus score begins, from 1'],
    de: ['Bestes Stück von', 'wo das Stück mit dem höchsten Viruswert beginnt, ab 1'],
    isWide: true,
    needs: 'bestChunkStart',
    sort: 'asc',
    word: 'position',
  }),
  bestChunkEnd: integer(maybeCount, {
    en: ['Best chunk to', 'its last base'],
    de: ['Bestes Stück bis', 'die letzte Base dieses Stücks'],
    isWide: true,
    needs: 'bestChunkEnd',
  }),
  bestFrame: text(z.enum(ALL_FRAME_NAMES).nullable(), {
    en: ['Frame of best chunk', 'the frame that decides it, `F1` to `R3`'],
    de: ['Rahmen des besten Stücks', 'der Leserahmen, der es entscheidet'],
    needs: 'bestFrame',
    width: 8,
  }),
  nFramesScored: integer(countSchema, {
    en: ['Frames scored', 'frames with a score, over all chunks'],
    de: ['Rahmen bewertet', 'Leserahmen mit einem Wert, über alle Stücke'],
    sort: 'desc',
    word: 'frames',
    limits: { '>=': 'minFramesScored' },
  }),
  terminalRepeat: text(z.enum(['DTR', 'ITR']).nullable(), {
    en: [
      'Terminal repeat',
      '`DTR` or `ITR`: [the end repeats the beginning](#terminal-repeats)',
      'Such a genome may be complete. Plasmids have repeats too.',
    ],
    de: [
      'Endwiederholung',
      'DTR oder ITR: Das Ende wiederholt den Anfang',
      'Ein solches Genom kann vollständig sein. Auch Plasmide haben Wiederholungen.',
    ],
    needs: 'terminalRepeat',
    width: 10,
  }),
  terminalRepeatLength: integer(maybeCount, {
    en: ['Repeat (bp)', 'its length'],
    de: ['Wiederholung (bp)', 'die Länge der Endwiederholung'],
    needs: 'terminalRepeatLength',
  }),
  nChunksLost: integer(countSchema, {
    en: ['Chunks without open frame', 'chunks without an open frame'],
    de: ['Stücke ohne offenen Rahmen', 'Stücke ohne offenen Leserahmen'],
  }),
  nChunksLostToTag: integer(countSchema, {
    en: ['Chunks lost to TAG', 'those that would have one if TAG were no stop codon'],
    de: ['An TAG verlorene Stücke', 'die einen hätten, wenn TAG kein Stoppcodon wäre'],
  }),
  nChunksLostToTga: integer(countSchema, {
    en: ['Chunks lost to TGA', 'those that would have one if TGA were no stop codon'],
    de: ['An TGA verlorene Stücke', 'die einen hätten, wenn TGA kein Stoppcodon wäre'],
  }),
  geneticCodeHint: integer(otherGeneticCodeSchema.nullable(), {
    en: ['Genetic code?', '`4` or `15`: [the genetic code that it may need](#another-genetic-code)'],
    de: ['Genetischer Code?', '4 oder 15: der genetische Code, den sie brauchen könnte'],
    needs: 'geneticCodeHint',
  }),
  /** The same in every row of a run, so that the window does not get it. */
  model: text(z.string(), {
    en: ['Model', 'the model, with its notice if it has one'],
    de: ['Modell', 'das Modell'],
    width: 14,
  }),
  /** The joint call of a read and its mate; null if neither has a call, and while either may change. */
  pairScore: score(maybeScore, {
    en: ['Score of pair', 'runs with [read pairs](#read-pairs): the mean score of both reads'],
    de: ['Wert des Paars', 'bei Read-Paaren das Mittel der Werte beider Reads'],
    ofRuns: 'paired',
    needs: 'virusScore',
  }),
  pairPrediction: text(predictionSchema.extract(['virus', 'others']).nullable(), {
    en: ['Call of pair', 'runs with read pairs: the call of both reads'],
    de: ['Einstufung des Paars', 'bei Read-Paaren die Einstufung beider Reads'],
    ofRuns: 'paired',
    needs: 'virusScore',
    width: 14,
    isShown: true,
    words: CALL_WORDS,
  }),
  pValue: score(maybeScore, {
    en: [
      'p-value',
      'runs of a [calibrated](#your-own-sequences-with-a-known-answer) model: how often what is no virus scores as high',
      'Counted among your own sequences without viruses of about this length. It holds as far as the sequences here that are no viruses are like those, and is not the chance that this one is none.',
    ],
    de: [
      'p-Wert',
      'wie oft etwas, das kein Virus ist, einen so hohen Wert hat',
      'Gezählt unter Ihren eigenen Sequenzen ohne Viren von etwa dieser Länge. Er gilt, soweit die Sequenzen hier, die keine Viren sind, jenen gleichen, und ist nicht die Wahrscheinlichkeit, dass diese keines ist.',
    ],
    ofRuns: 'calibrated',
    needs: 'virusScore',
    isShown: true,
  }),
  judgedBy: text(z.string().nullable(), {
    en: [
      'Judged by',
      'runs with [two chunk lengths](#two-chunk-lengths): those by which its chunks were judged',
      'Where a chunk of the first length has no open reading frame, shorter ones were judged.',
    ],
    de: [
      'Beurteilt mit',
      'bei zwei Stücklängen die, mit denen ihre Stücke beurteilt sind',
      'Wo ein Stück der ersten Länge keinen offenen Leserahmen hat, wurden kürzere beurteilt.',
    ],
    ofRuns: 'lookingTwice',
    needs: 'virusScore',
    isShown: true,
  }),
  along: text(z.string().nullable(), {
    en: [
      'Calls along the sequence',
      'its chunks in order, such as `3v1n2u`: virus, other, no score; `sequences.tsv` has it with two chunk lengths',
    ],
    de: [
      'Einstufungen entlang der Sequenz',
      'ihre Stücke der Reihe nach, etwa 3v1n2u: Virus, anderes, ohne Wert',
    ],
    ofRuns: 'lookingTwice',
    ofRunsIn: 'sequences',
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

/** The columns that a table of this run has, in order; the window has all but the model. */
export function columnsOf(
  table: Table | 'window',
  { isPaired, isCalibrated, looksTwice }: RunKind,
): ColumnKey[] {
  const isOfRun = { paired: isPaired, calibrated: isCalibrated, lookingTwice: looksTwice };
  return COLUMN_KEYS.filter((key) => {
    const { tables, ofRuns, ofRunsIn = table } = sequenceColumn(key);
    const isInTable = table === 'window' ? key !== 'model' : (tables?.includes(table) ?? true);
    return isInTable && (ofRuns === undefined || ofRunsIn !== table || isOfRun[ofRuns]);
  });
}

type WithWords = { [Key in ColumnKey]: Columns[Key] extends { words: object } ? Key : never }[ColumnKey];
type ValueOf<Key extends ColumnKey> = Columns[Key] extends { words: infer Of } ? keyof Of & string : never;

/** What a value is called. */
export function wordFor<Key extends WithWords>(
  key: Key,
  value: `${ValueOf<Key>}` | boolean,
  language: 'en' | 'de',
): string {
  return sequenceColumn(key).words?.[String(value)]?.[language] ?? '';
}

export type ColumnText =
  `column.${ColumnKey}${'' | '.meaning'}` | { [Key in WithWords]: `${Key}.${ValueOf<Key>}` }[WithWords];

/** What the window says of columns and their values: `column.length`, `column.length.meaning`, `evidence.weak`. */
export function columnTexts(language: 'en' | 'de'): Record<ColumnText, string> {
  const texts = COLUMN_KEYS.flatMap((key) => {
    const { [language]: said, words = {} } = sequenceColumn(key);
    const [heading, meaning, more] = said;
    const plain = meaning.replaceAll(/`|\[([^\]]*)\]\([^)]*\)/g, '$1');
    return [
      [`column.${key}`, heading],
      [`column.${key}.meaning`, `${plain[0]?.toUpperCase()}${plain.slice(1)}.${more ? ` ${more}` : ''}`],
      ...Object.entries(words).map(([value, { [language]: word }]) => [`${key}.${value}`, word]),
    ];
  });
  return Object.fromEntries(texts) as Record<ColumnText, string>;
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

type LimitsOf<Of> = Of extends { limits: infer Limits } ? Limits[keyof Limits] : never;
export type LimitField = LimitsOf<Columns[ColumnKey]>;

/** The limits that a filter can set: the field, and how the column's value must compare with it. */
export const COLUMN_LIMITS = SEQUENCE_FIELDS.flatMap((key) =>
  Object.entries(sequenceColumn(key).limits ?? {}).map(([how, field]) => ({ key, how, field })),
) as readonly { key: SequenceField; how: Comparison; field: LimitField }[];

export const isFraction = (key: ColumnKey): boolean => ['score', 'share'].includes(sequenceColumn(key).kind);

type SortKey = { [Key in SequenceField]: Columns[Key] extends { sort: string } ? Key : never }[SequenceField];

export const sequenceSortSchema = z.object({
  /** `input` sorts by the name of the file; `header` by name, and then by the rest of the header. */
  by: z.enum(SEQUENCE_FIELDS.filter((key) => sequenceColumn(key).sort) as [SortKey, ...SortKey[]]),
  descending: z.boolean(),
});
export type SequenceSort = z.infer<typeof sequenceSortSchema>;
