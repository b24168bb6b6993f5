import { SHORTEST_LENGTH } from '../../../contract/evidence.ts';
import type { ExportLanguage } from '../../../contract/exports.ts';
import type { Evidence, Prediction, Reason, SequenceResult } from '../../../contract/results.ts';
import { matesOf } from '../../../contract/samples.ts';
import { sequenceNotes } from '../../store/sequenceNotes.ts';
import type { SequenceSelection } from '../../store/duckdb/selection.ts';
import { cellText } from '../../results/cellText.ts';
import type { ExportSource } from '../exportSource.ts';
import { numberIn, type JoinedTable } from '../otherTools/joinOtherTable.ts';
import type { OtherLine } from '../otherTools/readOtherTable.ts';

export type CellValue = string | number | boolean | null;

/**
 * A column of an exported table. `score` and `share` are float32 from 0 to 1, `number` comes from another
 * tool. A `flag` is true or false wherever the format has such values.
 */
export interface Column {
  /** The name in sequences.tsv, if that has the column. */
  name: string;
  type: 'text' | 'integer' | 'score' | 'share' | 'number' | 'flag';
  heading: Record<ExportLanguage, string>;
  /** Width in characters that fits most of its cells. */
  width: number;
  value: (sequence: SequenceResult, source: ExportSource) => CellValue;
  /** What stands in text tables where a flag is true, and where it is false. */
  flagTexts?: readonly [yes: string, no: string];
  /** The word in the reader's language, for spreadsheets. */
  word?: (sequence: SequenceResult, language: ExportLanguage) => string;
  /** If given, the column is left out of a run in which no sequence has a value. */
  needs?: Need | undefined;
}

type Need =
  | ('scored' | 'twoScored' | 'evidence' | 'tooShort' | 'repeat' | 'otherCode')
  | ('pair' | 'pValue' | 'unsettled' | 'group' | 'control');

/** The columns of every table of sequences, in order. */
const COLUMNS: readonly Column[] = [
  integer('no', 'No.', 'Nr.', ({ row }) => row + 1),
  text('seq_name', 'Name', 'Name', 32, ({ seqName }) => seqName),
  text('sample', 'Sample', 'Probe', 18, ({ input }, { samples }) => samples[input] ?? null),
  ...only(
    'group',
    text('group', 'Group', 'Gruppe', 16, ({ input }, { sampleDetails: of }) => of?.[input]?.group ?? null),
  ),
  ...only(
    'control',
    flag('control', 'Control', 'Kontrolle', ['yes', 'no'], ({ input }, { sampleDetails }) =>
      Boolean(sampleDetails?.[input]?.control),
    ),
  ),
  text('input', 'File', 'Datei', 22, ({ input }, { inputNames }) => inputNames[input] ?? null),
  integer('length', 'Length (bp)', 'Länge (bp)', ({ length }) => length),
  ...only(
    'scored',
    score('virus_score', 'Score', 'Wert', 'score', (row) => row.virusScore),
  ),
  {
    ...text('prediction', 'Call', 'Einstufung', 14, ({ prediction }) => prediction),
    word: ({ prediction }, language) => CALL_WORDS[language][prediction],
  },
  ...only('unsettled', {
    ...flag('settled', 'Settled', 'Steht fest', ['True', 'False'], ({ settled }) => settled),
    word: ({ settled }, language) => (settled ? '' : UNSETTLED_WORD[language]),
  }),
  ...only('evidence', {
    ...text('evidence', 'Evidence', 'Beleglage', 11, ({ evidence }) => evidence),
    word: ({ evidence }, language) => (evidence === null ? '' : EVIDENCE_WORDS[language][evidence]),
  }),
  ...only('tooShort', {
    ...flag('too_short', 'Too short', 'Zu kurz', ['True', 'False'], ({ tooShort }) => tooShort),
    word: ({ tooShort }, language) => (tooShort ? TOO_SHORT_WORD[language] : ''),
  }),
  {
    ...text('reason', 'Reason', 'Grund', 18, ({ reason }) => reason),
    word: ({ reason }, language) => (reason === 'ok' ? '' : REASON_WORDS[language][reason]),
  },
  integer('n_chunks', 'Chunks', 'Stücke', ({ nChunks }) => nChunks),
  integer('n_chunks_scored', 'Chunks scored', 'Stücke bewertet', (row) => row.nChunksScored),
  integer('n_chunks_viral', 'Chunks called virus', 'Virale Stücke', (row) => row.nChunksViral),
  ...only(
    'scored',
    score('viral_fraction', 'Viral chunks', 'Anteil viraler Stücke', 'share', (row) =>
      row.viralFraction === null ? null : Math.fround(row.viralFraction),
    ),
    integer('n_bases_scored', 'Bases scored', 'Basen bewertet', (row) => row.nBasesScored),
    integer('n_bases_viral', 'Bases called virus', 'Virale Basen', (row) => row.nBasesViral),
  ),
  ...only(
    'evidence',
    score('best_score', 'Best chunk', 'Bestes Stück', 'score', (row) => row.bestScore),
  ),
  ...only(
    'twoScored',
    score('second_score', 'Second-best chunk', 'Zweitbestes Stück', 'score', (row) => row.secondScore),
  ),
  ...only(
    'scored',
    integer('best_chunk_start', 'Best chunk from', 'Bestes Stück von', (row) => row.bestChunkStart),
    integer('best_chunk_end', 'Best chunk to', 'Bestes Stück bis', (row) => row.bestChunkEnd),
    text('best_frame', 'Frame', 'Rahmen', 8, (row) => row.bestFrame),
  ),
  integer('n_frames_scored', 'Frames scored', 'Rahmen bewertet', (row) => row.nFramesScored),
  ...only(
    'repeat',
    text('terminal_repeat', 'Terminal repeat', 'Endwiederholung', 10, ({ terminalRepeat: repeat }) =>
      repeat === null ? null : repeat.kind,
    ),
    integer('terminal_repeat_length', 'Repeat (bp)', 'Wiederholung (bp)', ({ terminalRepeat: repeat }) =>
      repeat === null ? null : repeat.length,
    ),
  ),
  ...only(
    'otherCode',
    lost('n_chunks_lost', 'Chunks without open frame', 'Stücke ohne offenen Rahmen', 'all'),
    lost('n_chunks_lost_to_tag', 'Chunks lost to TAG', 'An TAG verlorene Stücke', 'toTag'),
    lost('n_chunks_lost_to_tga', 'Chunks lost to TGA', 'An TGA verlorene Stücke', 'toTga'),
    integer('genetic_code_hint', 'Genetic code?', 'Genetischer Code?', (row) => row.geneticCodeHint),
  ),
  ...only(
    'pair',
    score('pair_score', 'Score of pair', 'Wert des Paars', 'score', (row) => row.pair?.score ?? null),
    {
      ...text('pair_prediction', 'Call of pair', 'Einstufung des Paars', 14, ({ pair }) =>
        pair === null ? null : pair.prediction,
      ),
      word: ({ pair }, language) => (pair === null ? '' : CALL_WORDS[language][pair.prediction]),
    },
  ),
  ...only(
    'pValue',
    score('p_value', 'p-value', 'p-Wert', 'score', (row) => row.pValue),
  ),
  text('model', 'Model', 'Modell', 14, (_, { modelLabel }) => modelLabel),
];

/** The columns for which at least one of the selected sequences has a value. */
export async function usedColumns(source: ExportSource, selection: SequenceSelection): Promise<Column[]> {
  const has = async (more: SequenceSelection['filter']): Promise<boolean> => {
    const filter = { ...selection.filter, ...more };
    return (await source.store.countPredictions({ ...selection, filter })).total > 0;
  };
  const least = selection.filter.minScoredChunks ?? 0;
  const most = Math.min(SHORTEST_LENGTH - 1, selection.filter.maxLength ?? Infinity);
  const [scored, twoScored, evidence, tooShort, repeat, otherCode, unsettled] = await Promise.all([
    has({ minScoredChunks: Math.max(1, least) }),
    has({ minScoredChunks: Math.max(2, least), evidence: selection.filter.evidence ?? ALL_LEVELS }),
    has({ evidence: selection.filter.evidence ?? ALL_LEVELS }),
    has({ maxLength: most }),
    has({ terminalRepeat: true }),
    has({ otherCode: true }),
    selection.filter.settled !== true && has({ settled: false }),
  ]);
  const details = source.sampleDetails ?? [];
  const met: Record<Need, boolean> = {
    ...{ scored, twoScored, evidence, tooShort, repeat, otherCode, unsettled },
    pair: matesOf(source.run.inputs.map(({ path }) => path)).some((mate) => mate !== null) && scored,
    pValue: source.run.plan.trusted !== undefined && scored,
    group: details.some((one) => one.group !== null),
    control: details.some((one) => one.control),
  };
  return [
    ...COLUMNS.filter(({ needs }) => needs === undefined || met[needs]),
    ...source.others.flatMap((joined, table) => otherColumns(joined, table, source.others)),
    ...noteColumns(source),
  ];
}

/** The user's notes on the selected sequences; they come last because they are no results. */
function noteColumns({ order, store }: ExportSource): Column[] {
  const written = new Map(sequenceNotes(store.folder).map((one) => [one.row, one]));
  if (written.size === 0) return [];
  const shortlisted = new Set<number>();
  const tags = new Map<number, string>();
  const notes = new Map<number, string>();
  for (const row of order) {
    const one = written.get(row);
    if (one?.shortlisted) shortlisted.add(row);
    if (one && one.tags.length > 0) tags.set(row, cellText(one.tags.join('; ')));
    if (one && one.note !== '') notes.set(row, cellText(one.note));
  }
  return [
    ...(shortlisted.size === 0
      ? []
      : [flag('shortlist', 'Shortlist', 'Engere Wahl', ['yes', 'NA'], ({ row }) => shortlisted.has(row))]),
    ...(tags.size === 0
      ? []
      : [text('tags', 'Tags', 'Schlagwörter', 20, ({ row }) => tags.get(row) ?? null)]),
    ...(notes.size === 0 ? [] : [text('note', 'Note', 'Notiz', 40, ({ row }) => notes.get(row) ?? null)]),
  ];
}

/**
 * Another tool's columns for the sequences: `genomad_call` and its own columns, as numbers if they contain
 * only numbers.
 */
function otherColumns(joined: JoinedTable, table: number, all: readonly JoinedTable[]): Column[] {
  const { title, columns } = joined.table;
  const plain =
    title
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
      .replaceAll(/^_|_$/g, '') || 'other';
  const isTaken = all
    .slice(0, table)
    .some((other) => other.table.title.toLowerCase() === title.toLowerCase());
  const prefix = isTaken ? `${plain}_${table + 1}` : plain;
  const cell = (name: string, value: (line: OtherLine) => CellValue): Column =>
    text(`${prefix}_${name}`, `${title}: ${name}`, `${title}: ${name}`, 18, ({ row }) => {
      const line = joined.lineOf(row);
      return line && value(line);
    });
  return [
    cell('call', ({ isVirus }) => (isVirus === null ? null : isVirus ? 'virus' : 'not_virus')),
    ...columns.map((name, i): Column =>
      joined.isNumeric[i] === true
        ? { ...cell(name, ({ values }) => numberIn(values[i] ?? '')), type: 'number' }
        : cell(name, ({ values }) => cellText(values[i] ?? '') || null),
    ),
  ];
}

const ALL_LEVELS: Evidence[] = ['weak', 'moderate', 'strong'];

function text(name: string, en: string, de: string, width: number, value: Column['value']): Column {
  return { name, type: 'text', heading: { en, de }, width, value };
}

function flag(
  name: string,
  en: string,
  de: string,
  flagTexts: NonNullable<Column['flagTexts']>,
  value: (...of: Parameters<Column['value']>) => boolean,
): Column {
  return { name, type: 'flag', heading: { en, de }, width: 12, flagTexts, value };
}

function integer(name: string, en: string, de: string, value: Column['value']): Column {
  return { name, type: 'integer', heading: { en, de }, width: 12, value };
}

function score(
  name: string,
  en: string,
  de: string,
  type: 'score' | 'share',
  value: Column['value'],
): Column {
  return { name, type, heading: { en, de }, width: 12, value };
}

function lost(name: string, en: string, de: string, to: keyof SequenceResult['lostChunks']): Column {
  return integer(name, en, de, ({ lostChunks }) => lostChunks[to]);
}

function only(needs: Need, ...columns: Column[]): Column[] {
  return columns.map((column) => ({ ...column, needs }));
}

export const CALL_WORDS: Record<ExportLanguage, Record<Prediction, string>> = {
  en: { virus: 'Virus', others: 'Other', not_scored: 'Not scored', failed: 'Failed' },
  de: { virus: 'Virus', others: 'Anderes', not_scored: 'Nicht bewertet', failed: 'Gescheitert' },
};

export const UNSETTLED_WORD: Record<ExportLanguage, string> = { en: 'may change', de: 'kann sich ändern' };
export const TOO_SHORT_WORD: Record<ExportLanguage, string> = { en: 'too short', de: 'zu kurz' };

export const EVIDENCE_WORDS: Record<ExportLanguage, Record<Evidence, string>> = {
  en: { weak: 'Weak', moderate: 'Moderate', strong: 'Strong' },
  de: { weak: 'Schwach', moderate: 'Mittel', strong: 'Stark' },
};

const REASON_WORDS: Record<ExportLanguage, Record<Exclude<Reason, 'ok'>, string>> = {
  en: {
    empty: 'empty',
    no_open_frame: 'no open reading frame',
    invalid_characters: 'invalid characters',
    malformed_record: 'damaged entry',
    worker_failure: 'computation crashed',
    out_of_memory: 'out of memory',
    non_finite: 'no usable number',
    not_computed: 'not computed',
  },
  de: {
    empty: 'leer',
    no_open_frame: 'kein offener Leserahmen',
    invalid_characters: 'ungültige Zeichen',
    malformed_record: 'beschädigter Eintrag',
    worker_failure: 'Berechnung abgestürzt',
    out_of_memory: 'Speicher reichte nicht',
    non_finite: 'keine brauchbare Zahl',
    not_computed: 'nicht berechnet',
  },
};
