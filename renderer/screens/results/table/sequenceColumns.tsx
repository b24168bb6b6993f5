import { Text } from '@mantine/core';
import {
  ribbonPaths,
  sequenceColumn,
  SHORTEST_LENGTH,
  type ColumnKey,
  type ListedSequence,
  type SequenceField,
  type SequenceResult,
} from '../../../../electron/contract/index.ts';
import type { CellLook, VirtualColumn } from '../../../components/table/VirtualTable.tsx';
import type { Texts } from '../../../i18n/index.ts';
import classes from '../ResultsTab.module.css';
import { callLook, evidenceLook } from '../callLabels.tsx';

const NO_LOOK: CellLook = {};
const MUTED: CellLook = { className: 'muted' };
/** The filters above the table show one of their values, which says more than their order. */
const FILTERED: readonly SequenceField[] = ['prediction', 'settled'];
const SCORE_BAR_PX = 44;

/** Draws a bar behind the number. */
function scoreLook({ virusScore, prediction }: SequenceResult): CellLook {
  if (virusScore === null) return NO_LOOK;
  return {
    className: prediction === 'virus' ? `${classes.scoreCell} ${classes.viralScore}` : classes.scoreCell,
    style: { backgroundSize: `${(virusScore * SCORE_BAR_PX).toFixed(1)}px 6px, ${SCORE_BAR_PX}px 6px` },
  };
}

type OtherCall = NonNullable<NonNullable<ListedSequence['others']>[number]>;

/** Puts a sequence, or all from the previously ticked one to it, on the shortlist or takes them off. */
export type OnTick = (
  sequence: ListedSequence,
  index: number,
  shortlisted: boolean,
  isRange: boolean,
) => void;

interface ColumnsOf {
  onTick: OnTick;
  inputName: (input: number) => string;
  /** Sample of each input; null if there is only one sample. */
  samples: readonly string[] | null;
  /** The model's training length: shorter sequences are marked. */
  chunkLength: number;
  /** Titles of the tables of other tools. */
  others: readonly string[];
  shortlisted: ReadonlySet<number> | null;
  /** The columns that the run has, in order. */
  keys: readonly ColumnKey[];
}

type Drawn = Partial<VirtualColumn<ListedSequence>>;

const MISSING = '–';
const FEW_PX = 76;
const PX_OF_LETTER = 9;

/** A column as the list of columns says it. */
function plainColumn({ t, format, language }: Texts, key: SequenceField): VirtualColumn<ListedSequence> {
  const { kind, sort, words, width = 12 } = sequenceColumn(key);
  const title = t(`column.${key}`);
  const isNumber = kind !== 'text' && kind !== 'flag';
  const pixels = Math.max(FEW_PX, PX_OF_LETTER * Math.max(title.length + 2, isNumber ? 0 : width));
  const textOf = (value: string | number | boolean): string => {
    const word = words?.[String(value)];
    if (word) return word[language];
    if (typeof value !== 'number') return String(value);
    if (kind === 'share') return format.percent(value);
    return kind === 'score' ? format.score(value) : format.integer(value);
  };
  return {
    id: key,
    title,
    hint: t(`column.${key}.meaning`),
    width: isNumber ? `${pixels}px` : `minmax(${pixels}px, 1fr)`,
    align: isNumber ? 'end' : 'start',
    ...(sort && !FILTERED.includes(key) && { firstSort: sort }),
    cell: ({ [key]: value }) => (value === null ? MISSING : textOf(value)),
    look: ({ [key]: value }) => (value === null ? MUTED : NO_LOOK),
  };
}

/** The columns of the list, some of them drawn in their own way; and those that only the window has. Ids are the names of `sequenceSort.by`. */
export function sequenceColumns(
  texts: Texts,
  { onTick, inputName, samples, chunkLength, others, shortlisted, keys }: ColumnsOf,
): VirtualColumn<ListedSequence>[] {
  const { t, format } = texts;
  const shortLook = { title: t('results.shortText', { length: chunkLength }) };
  const tooShortLook = { title: t('results.tooShortText', { shortest: SHORTEST_LENGTH }) };
  const otherText = ({ isVirus, text }: OtherCall) => {
    const call = t(isVirus === null ? 'others.noCall' : isVirus ? 'prediction.virus' : 'others.notVirus');
    return text === '' ? call : `${call} · ${text}`;
  };
  const drawn: { readonly [Key in SequenceField]?: Drawn } = {
    row: { cell: ({ row }) => format.integer(row + 1), look: () => MUTED },
    seqName: {
      // Names in one assembly differ at their ends.
      width: 'minmax(clamp(110px, 14vw, 200px), 2fr)',
      look: (row) => ({ title: row.header }),
    },
    length: {
      cell: ({ length, tooShort }) => {
        const text = format.integer(length);
        if (length >= chunkLength && !tooShort) return text;
        return (
          <>
            <Text span ml={6} fz={11} c="dimmed">
              {t(tooShort ? 'tooShort.true' : 'results.short')}
            </Text>{' '}
            {text}
          </>
        );
      },
      look: (row) => (row.tooShort ? tooShortLook : row.length < chunkLength ? shortLook : NO_LOOK),
    },
    virusScore: { width: '122px', look: scoreLook },
    prediction: {
      width: '110px',
      look: ({ prediction, settled }) => callLook(prediction, settled),
    },
    settled: { width: '124px', look: ({ settled }) => (settled ? NO_LOOK : MUTED) },
    evidence: {
      width: '116px',
      hint: t('evidence.about'),
      look: ({ evidence }) => evidenceLook(evidence),
    },
    pairPrediction: {
      width: '132px',
      look: ({ pairPrediction: call }) => (call === null ? MUTED : callLook(call)),
    },
    reason: { cell: ({ reason }) => (reason === 'ok' ? '' : t(`reason.${reason}`)) },
    input: { cell: ({ input }) => inputName(input) },
    header: { width: 'minmax(160px, 2fr)', look: ({ header }) => ({ title: header }) },
  };
  const columns = new Map(
    keys.filter((key) => key !== 'model').map((key) => [key, { ...plainColumn(texts, key), ...drawn[key] }]),
  );
  const take = (...wanted: readonly SequenceField[]) =>
    wanted.flatMap((key) => {
      const column = columns.get(key);
      columns.delete(key);
      return column ?? [];
    });
  return [
    {
      id: 'shortlisted',
      title: t('shortlist.title'),
      titleHidden: true,
      hint: t('shortlist.hint'),
      width: '36px',
      cell: (sequence, index) => (
        <input
          type="checkbox"
          className="tick"
          tabIndex={-1}
          aria-label={t('shortlist.add', { name: sequence.seqName })}
          checked={shortlisted?.has(sequence.row) ?? false}
          onChange={({ currentTarget, nativeEvent }) =>
            onTick(
              sequence,
              index,
              currentTarget.checked,
              nativeEvent instanceof MouseEvent && nativeEvent.shiftKey,
            )
          }
        />
      ),
    },
    ...take('row', 'seqName'),
    ...(samples
      ? [
          {
            id: 'sample',
            title: t('common.sample'),
            hint: t('results.hint.sample'),
            width: 'minmax(90px, 1fr)',
            cell: (row: ListedSequence) => samples[row.input] ?? MISSING,
          },
        ]
      : []),
    ...take('length', 'virusScore'),
    {
      id: 'ribbon',
      title: t('results.along'),
      hint: t('results.hint.ribbon'),
      width: '150px',
      cell: (row) =>
        row.ribbon.length === 0 ? (
          t(`reason.${row.reason}`)
        ) : (
          <Ribbon
            steps={row.ribbon}
            label={t('results.ribbonLabel', {
              viral: format.integer(row.nChunksViral),
              scored: format.integer(row.nChunksScored),
              chunks: format.integer(row.nChunks),
            })}
          />
        ),
      look: (row) => (row.ribbon.length === 0 ? MUTED : NO_LOOK),
    },
    ...take('prediction', 'settled', 'evidence', 'pairPrediction', 'pValue', 'judgedBy', 'along'),
    ...others.map((title, index): VirtualColumn<ListedSequence> => ({
      id: `other ${index}`,
      title,
      hint: t('results.hint.other', { title }),
      width: '112px',
      cell: (row) => {
        const other = row.others?.[index];
        return other
          ? `${other.isVirus === null ? '?' : other.isVirus ? '✓' : '✗'} ${other.text.split(' · ')[0] ?? ''}`
          : MISSING;
      },
      look: (row) => {
        const other = row.others?.[index];
        return other ? { title: otherText(other) } : MUTED;
      },
    })),
    ...columns.values(),
  ];
}

export function Ribbon({ steps, label }: { steps: readonly number[]; label: string }) {
  const { virus, others, not_scored: none, again } = ribbonPaths(steps);
  return (
    <svg
      className={classes.ribbon}
      viewBox={`0 0 ${steps.length} 100`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path className={classes.ribbonVirus} d={virus} />
      <path className={classes.ribbonOthers} d={others} />
      <path className={classes.ribbonNone} d={none} />
      <path className={classes.ribbonAgain} d={again} />
    </svg>
  );
}
