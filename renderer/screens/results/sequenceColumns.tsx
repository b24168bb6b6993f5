import { IconNote } from '@tabler/icons-react';
import type { ListedSequence, SequenceNote, SequenceResult } from '../../../electron/contract/index.ts';
import type { VirtualColumn } from '../../components/table/virtualColumns.ts';
import type { Texts } from '../../i18n/index.ts';
import { EvidenceLabel } from './EvidenceLabel.tsx';
import { PredictionLabel } from './PredictionLabel.tsx';
import classes from './ResultsTab.module.css';

export const HIDEABLE_COLUMNS = [
  'row',
  'length',
  'virusScore',
  'prediction',
  'evidence',
  'viralFraction',
  'nChunks',
  'bestTwo',
  'best',
  'frames',
  'reason',
  'input',
  'header',
] as const;

/** Columns with the names of `sequenceSort.by` where they can be sorted by. */
export function sequenceColumns(
  { t, format }: Texts,
  inputName: (input: number) => string,
  /** What the model was trained on: what is shorter is marked. */
  chunkLength: number,
  others: readonly string[],
  notes: ReadonlyMap<number, SequenceNote> | null,
): VirtualColumn<ListedSequence>[] {
  const missing = '–';
  return [
    {
      id: 'row',
      accessorFn: (row) => row.row,
      header: t('results.column.row'),
      meta: { width: '76px', align: 'end' },
      cell: ({ row }) => <span className="muted">{format.integer(row.original.row + 1)}</span>,
    },
    {
      id: 'seqName',
      accessorFn: (row) => row.seqName,
      header: t('results.column.seqName'),
      meta: { width: 'minmax(110px, 2fr)' },
      cell: ({ row }) => {
        const written = notes?.get(row.original.row);
        return (
          <>
            {written && <NoteMark label={t('notes.mark')} {...written} />}
            <span title={row.original.header}>{row.original.seqName}</span>
          </>
        );
      },
    },
    {
      id: 'length',
      accessorFn: (row) => row.length,
      header: t('results.column.length'),
      meta: { width: '96px', align: 'end' },
      cell: ({ row }) => {
        const { length } = row.original;
        const text = format.integer(length);
        if (length >= chunkLength) return text;
        return (
          <span title={t('results.shortText', { length: chunkLength })}>
            <span className={classes.short}>{t('results.short')}</span> {text}
          </span>
        );
      },
    },
    {
      id: 'virusScore',
      accessorFn: (row) => row.virusScore,
      header: t('results.column.virusScore'),
      meta: { width: '128px', align: 'end' },
      cell: ({ row }) => (
        <Score
          row={row.original}
          text={row.original.virusScore === null ? missing : format.score(row.original.virusScore)}
        />
      ),
    },
    {
      id: 'prediction',
      accessorFn: (row) => row.prediction,
      header: t('results.column.prediction'),
      meta: { width: '110px' },
      cell: ({ row }) => <PredictionLabel prediction={row.original.prediction} />,
    },
    {
      id: 'evidence',
      accessorFn: (row) => row.evidence,
      header: t('results.column.evidence'),
      meta: { width: '116px' },
      cell: ({ row }) => <EvidenceLabel evidence={row.original.evidence} />,
    },
    ...others.map((title, index): VirtualColumn<ListedSequence> => ({
      id: `other ${index}`,
      header: title,
      meta: { width: 'minmax(130px, 1fr)' },
      cell: ({ row }) => {
        const said = row.original.others?.[index];
        if (!said) return <span className="muted">{missing}</span>;
        const call = t(said.isVirus ? 'prediction.virus' : 'others.notVirus');
        const text = said.text === '' ? call : `${call} · ${said.text}`;
        return <span title={text}>{text}</span>;
      },
    })),
    {
      id: 'viralFraction',
      accessorFn: (row) => row.viralFraction,
      header: t('results.column.viralFraction'),
      meta: { width: '104px', align: 'end' },
      cell: ({ row }) =>
        row.original.viralFraction === null ? missing : format.percent(row.original.viralFraction),
    },
    {
      id: 'nChunks',
      accessorFn: (row) => row.nChunks,
      header: t('results.column.nChunks'),
      meta: { width: '86px', align: 'end' },
      cell: ({ row }) =>
        t('common.of', {
          part: format.integer(row.original.nChunksScored),
          whole: format.integer(row.original.nChunks),
        }),
    },
    {
      id: 'bestTwo',
      header: t('results.column.bestTwo'),
      meta: { width: '112px', align: 'end' },
      cell: ({ row }) => {
        const { bestScore, secondScore } = row.original;
        if (bestScore === null) return missing;
        const second = secondScore === null ? missing : format.decimal(secondScore, 2);
        return `${format.decimal(bestScore, 2)} · ${second}`;
      },
    },
    {
      id: 'best',
      header: t('results.column.best'),
      meta: { width: 'minmax(168px, 1fr)' },
      cell: ({ row }) => {
        const { bestChunkStart, bestChunkEnd, bestFrame, reason } = row.original;
        if (bestChunkStart === null || bestChunkEnd === null)
          return <span className="muted">{t(`reason.${reason}`)}</span>;
        return `${format.integer(bestChunkStart)} – ${format.integer(bestChunkEnd)} · ${bestFrame ?? missing}`;
      },
    },
    {
      id: 'frames',
      header: t('results.column.frames'),
      meta: { width: '84px', align: 'end' },
      cell: ({ row }) => format.integer(row.original.nFramesScored),
    },
    {
      id: 'reason',
      header: t('results.column.reason'),
      meta: { width: 'minmax(110px, 1fr)' },
      cell: ({ row }) => (row.original.reason === 'ok' ? '' : t(`reason.${row.original.reason}`)),
    },
    {
      id: 'input',
      header: t('results.column.input'),
      meta: { width: 'minmax(120px, 1fr)' },
      cell: ({ row }) => inputName(row.original.input),
    },
    {
      id: 'header',
      header: t('results.column.header'),
      meta: { width: 'minmax(160px, 2fr)' },
      cell: ({ row }) => <span title={row.original.header}>{row.original.header}</span>,
    },
  ];
}

/** The user has written something on this sequence. */
function NoteMark({ label, tags, note }: SequenceNote & { label: string }) {
  const text = [tags.join(', '), note].filter((part) => part !== '').join(': ');
  return (
    <span className={classes.noteMark} title={text}>
      <IconNote size={15} role="img" aria-label={`${label}: ${text}`} />
    </span>
  );
}

function Score({ row, text }: { row: SequenceResult; text: string }) {
  return (
    <span className={classes.scoreCell}>
      <span className={classes.scoreBar} aria-hidden>
        {row.virusScore !== null && (
          <span
            style={{
              width: `${row.virusScore * 100}%`,
              background: row.prediction === 'virus' ? 'var(--virus)' : 'var(--others)',
            }}
          />
        )}
      </span>
      <span>{text}</span>
    </span>
  );
}
