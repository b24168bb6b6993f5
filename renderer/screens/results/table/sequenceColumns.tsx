import { Text } from '@mantine/core';
import { IconNote } from '@tabler/icons-react';
import {
  SHORTEST_LENGTH,
  type Evidence,
  type ListedSequence,
  type Prediction,
  type SequenceNote,
  type SequenceResult,
  type Trusted,
} from '../../../../electron/contract/index.ts';
import type { CellLook, VirtualColumn } from '../../../components/table/VirtualTable.tsx';
import type { Texts } from '../../../i18n/index.ts';
import classes from '../ResultsTab.module.css';
import { EvidenceRule } from './EvidenceRule.tsx';

const NO_LOOK: CellLook = {};
const MUTED: CellLook = { className: 'muted' };
const callLook = (call: Prediction): CellLook => ({ className: `${classes.callCell} ${classes[call]}` });
const CALL_LOOKS: Readonly<Record<Prediction, CellLook>> = {
  virus: callLook('virus'),
  others: callLook('others'),
  not_scored: callLook('not_scored'),
  failed: callLook('failed'),
};
/** A call that may still change must not look final. */
const unsettled = (call: Prediction): CellLook => ({
  className: `${CALL_LOOKS[call].className ?? ''} ${classes.unsettled}`,
});
const UNSETTLED_LOOKS: Readonly<Record<Prediction, CellLook>> = {
  virus: unsettled('virus'),
  others: unsettled('others'),
  not_scored: unsettled('not_scored'),
  failed: unsettled('failed'),
};
const evidenceLook = (level: Evidence): CellLook => ({
  className: `${classes.evidenceCell} ${classes[level]}`,
});
const EVIDENCE_LOOKS: Readonly<Record<Evidence, CellLook>> = {
  weak: evidenceLook('weak'),
  moderate: evidenceLook('moderate'),
  strong: evidenceLook('strong'),
};
const SCORE_BAR_PX = 44;
/** With more steps than this, there is no space for gaps between them. */
const WIDEST_GAPS = 24;
/** Height of a step without a score, in percent. */
const EMPTY_STEP = 6;

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
  notes: ReadonlyMap<number, SequenceNote> | null;
  hasPairs: boolean;
  isDone: boolean;
  looksTwice: boolean;
  /** What the p-values are computed against. */
  trusted: Trusted | undefined;
}

/** Column ids are the names of `sequenceSort.by`; the table cannot be sorted by a column with any other id. */
export function sequenceColumns(
  texts: Texts,
  {
    onTick,
    inputName,
    samples,
    chunkLength,
    others,
    notes,
    hasPairs,
    isDone,
    looksTwice,
    trusted,
  }: ColumnsOf,
): VirtualColumn<ListedSequence>[] {
  const { t, format } = texts;
  const missing = '–';
  const shortLook = { title: t('results.shortText', { length: chunkLength }) };
  const tooShortLook = { title: t('results.tooShortText', { shortest: SHORTEST_LENGTH }) };
  const hint = (
    of:
      | ('row' | 'seqName' | 'sample' | 'length' | 'virusScore' | 'ribbon' | 'prediction' | 'viralFraction')
      | ('nChunks' | 'bestScore' | 'bestChunkStart' | 'nFramesScored' | 'reason' | 'input' | 'header'),
  ) => ({ hint: t(`results.hint.${of}`) });
  const column = (id: Exclude<Parameters<typeof hint>[0], 'sample' | 'nFramesScored' | 'input'>) => ({
    id,
    title: t(`results.column.${id}`),
    ...hint(id),
  });
  const otherText = ({ isVirus, text }: OtherCall) => {
    const call = t(isVirus === null ? 'others.noCall' : isVirus ? 'prediction.virus' : 'others.notVirus');
    return text === '' ? call : `${call} · ${text}`;
  };
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
          className={classes.tick}
          tabIndex={-1}
          aria-label={t('shortlist.add', { name: sequence.seqName })}
          checked={notes?.get(sequence.row)?.shortlisted ?? false}
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
    {
      ...column('row'),
      firstSort: 'desc',
      width: '76px',
      align: 'end',
      cell: (row) => format.integer(row.row + 1),
      look: () => MUTED,
    },
    {
      ...column('seqName'),
      firstSort: 'asc',
      // Names in one assembly differ at their ends.
      width: 'minmax(clamp(110px, 14vw, 200px), 2fr)',
      cell: (row) => {
        const written = notes?.get(row.row);
        if (!written || (written.note === '' && written.tags.length === 0)) return row.seqName;
        return (
          <>
            <NoteMark label={t('notes.mark')} {...written} />
            {row.seqName}
          </>
        );
      },
      look: (row) => ({ title: row.header }),
    },
    ...(samples
      ? [
          {
            id: 'sample',
            ...hint('sample'),
            title: t('common.sample'),
            width: 'minmax(90px, 1fr)',
            cell: (row: ListedSequence) => samples[row.input] ?? missing,
          },
        ]
      : []),
    {
      ...column('length'),
      firstSort: 'desc',
      width: '96px',
      align: 'end',
      cell: (row) => {
        const { length } = row;
        const text = format.integer(length);
        if (length >= chunkLength && !row.tooShort) return text;
        return (
          <>
            <Text span ml={6} fz={11} c="dimmed">
              {t(row.tooShort ? 'results.tooShort' : 'results.short')}
            </Text>{' '}
            {text}
          </>
        );
      },
      look: (row) => (row.tooShort ? tooShortLook : row.length < chunkLength ? shortLook : NO_LOOK),
    },
    {
      ...column('virusScore'),
      firstSort: 'desc',
      width: '122px',
      align: 'end',
      cell: (row) => (row.virusScore === null ? missing : format.score(row.virusScore)),
      look: scoreLook,
    },
    {
      ...column('ribbon'),
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
    {
      ...column('prediction'),
      firstSort: 'desc',
      width: '110px',
      cell: (row) => t(`prediction.${row.prediction}`),
      look: (row) => (row.settled ? CALL_LOOKS : UNSETTLED_LOOKS)[row.prediction],
    },
    ...(isDone
      ? []
      : [
          {
            id: 'settled',
            hint: t('results.settled.hint'),
            firstSort: 'asc' as const,
            title: t('results.column.settled'),
            width: '124px',
            cell: ({ settled }: ListedSequence) => t(settled ? 'results.settled.yes' : 'results.settled.no'),
            look: ({ settled }: ListedSequence) => (settled ? NO_LOOK : MUTED),
          },
        ]),
    {
      id: 'evidence',
      hint: <EvidenceRule chunkLength={chunkLength} />,
      firstSort: 'desc',
      title: t('results.column.evidence'),
      width: '116px',
      cell: (row) => (row.evidence === null ? missing : t(`evidence.${row.evidence}`)),
      look: (row) => (row.evidence === null ? MUTED : EVIDENCE_LOOKS[row.evidence]),
    },
    ...(hasPairs
      ? [
          {
            id: 'pair',
            title: t('results.pair'),
            hint: t('results.pairText'),
            width: '132px',
            cell: ({ pairScore, pairPrediction }: ListedSequence) =>
              pairScore === null || pairPrediction === null
                ? missing
                : `${t(`prediction.${pairPrediction}`)} · ${format.score(pairScore)}`,
            look: ({ pairPrediction: call }: ListedSequence) => (call === null ? MUTED : CALL_LOOKS[call]),
          },
        ]
      : []),
    ...(trusted
      ? [
          {
            id: 'pValue',
            title: t('results.pValue'),
            hint: t('results.pValueText', { file: trusted.file }),
            width: '92px',
            align: 'end' as const,
            cell: ({ pValue }: ListedSequence) => (pValue === null ? missing : format.score(pValue)),
          },
        ]
      : []),
    ...(looksTwice
      ? [
          {
            id: 'judgedBy',
            title: t('chunks.judgedBy'),
            hint: t('results.judgedByText'),
            width: '104px',
            cell: ({ judgedBy }: ListedSequence) => (judgedBy === null ? missing : `${judgedBy} bp`),
          },
          {
            id: 'along',
            title: t('results.column.ribbon'),
            hint: t('results.alongText'),
            width: '124px',
            cell: ({ along }: ListedSequence) => along ?? missing,
          },
        ]
      : []),
    ...others.map((title, index): VirtualColumn<ListedSequence> => ({
      id: `other ${index}`,
      title,
      hint: t('results.hint.other', { title }),
      width: '112px',
      cell: (row) => {
        const other = row.others?.[index];
        return other
          ? `${other.isVirus === null ? '?' : other.isVirus ? '✓' : '✗'} ${other.text.split(' · ')[0] ?? ''}`
          : missing;
      },
      look: (row) => {
        const other = row.others?.[index];
        return other ? { title: otherText(other) } : MUTED;
      },
    })),
    {
      ...column('viralFraction'),
      firstSort: 'desc',
      width: '104px',
      align: 'end',
      cell: (row) => (row.viralFraction === null ? missing : format.percent(row.viralFraction)),
    },
    {
      ...column('nChunks'),
      firstSort: 'desc',
      width: '86px',
      align: 'end',
      cell: (row) =>
        t('common.of', {
          part: format.integer(row.nChunksScored),
          whole: format.integer(row.nChunks),
        }),
    },
    {
      ...column('bestScore'),
      firstSort: 'desc',
      width: '112px',
      align: 'end',
      cell: (row) => {
        const { bestScore, secondScore } = row;
        if (bestScore === null) return missing;
        const second = secondScore === null ? missing : format.decimal(secondScore, 2);
        return `${format.decimal(bestScore, 2)} · ${second}`;
      },
    },
    {
      ...column('bestChunkStart'),
      firstSort: 'asc',
      width: 'minmax(168px, 1fr)',
      cell: (row) => {
        const { bestChunkStart, bestChunkEnd, bestFrame, reason } = row;
        if (bestChunkStart === null || bestChunkEnd === null) return t(`reason.${reason}`);
        return `${format.integer(bestChunkStart)} – ${format.integer(bestChunkEnd)} · ${bestFrame ?? missing}`;
      },
      look: (row) => (row.bestChunkStart === null ? MUTED : NO_LOOK),
    },
    {
      id: 'nFramesScored',
      ...hint('nFramesScored'),
      firstSort: 'desc',
      title: t('common.frames'),
      width: '84px',
      align: 'end',
      cell: (row) => format.integer(row.nFramesScored),
    },
    {
      id: 'terminalRepeat',
      title: t('results.column.terminalRepeat'),
      hint: t('chunks.terminalRepeatText'),
      width: '120px',
      cell: ({ terminalRepeat: repeat, terminalRepeatLength: length }) =>
        repeat === null || length === null ? missing : `${repeat} ${format.integer(length)} bp`,
      look: ({ terminalRepeat }) => (terminalRepeat === null ? MUTED : NO_LOOK),
    },
    {
      ...column('reason'),
      firstSort: 'asc',
      width: 'minmax(110px, 1fr)',
      cell: (row) => (row.reason === 'ok' ? '' : t(`reason.${row.reason}`)),
    },
    {
      id: 'input',
      ...hint('input'),
      firstSort: 'asc',
      title: t('common.file'),
      width: 'minmax(120px, 1fr)',
      cell: (row) => inputName(row.input),
    },
    {
      ...column('header'),
      firstSort: 'asc',
      width: 'minmax(160px, 2fr)',
      cell: (row) => row.header,
      look: (row) => ({ title: row.header }),
    },
  ];
}

/** Draws the scores along a sequence: a bar for each chunk, or one for several chunks of a long sequence. */
export function Ribbon({ steps, label }: { steps: readonly number[]; label: string }) {
  const width = steps.length > WIDEST_GAPS ? 1 : 0.88;
  const path = (has: (step: number) => boolean) =>
    steps
      .map((step, i) => (has(step) ? `M${i} 100V${100 - (Math.abs(step) || EMPTY_STEP)}h${width}V100z` : ''))
      .join('');
  return (
    <svg
      className={classes.ribbon}
      viewBox={`0 0 ${steps.length} 100`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path className={classes.ribbonVirus} d={path((step) => step > 0)} />
      <path className={classes.ribbonOthers} d={path((step) => step < 0)} />
      <path className={classes.ribbonNone} d={path((step) => step === 0)} />
    </svg>
  );
}

/** Marks a sequence that has a note or tags of the user's. */
function NoteMark({ label, tags, note }: SequenceNote & { label: string }) {
  const text = [tags.join(', '), note].filter((part) => part !== '').join(': ');
  return (
    <span className={classes.noteMark} title={text}>
      <IconNote size={15} role="img" aria-label={`${label}: ${text}`} />
    </span>
  );
}
