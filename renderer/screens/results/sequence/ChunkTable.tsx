import { useMemo } from 'react';
import type { ChunkResult } from '../../../../electron/contract/index.ts';
import {
  DENSE_ROW_HEIGHT,
  VirtualTable,
  type VirtualColumn,
} from '../../../components/table/VirtualTable.tsx';
import { useTexts, type Texts } from '../../../i18n/index.ts';
import { PredictionLabel } from '../callLabels.tsx';
import classes from './SequencePanel.module.css';

const ROWS_IN_SIGHT = 6;

interface ChunkTableProps {
  chunks: readonly ChunkResult[];
  /** Whether chunks of two lengths judge. */
  looksTwice: boolean;
  /** The picked chunk. */
  chunk: ChunkResult | undefined;
  onPick: (chunk: ChunkResult) => void;
}

/** The chunks of a sequence, and the reading frames of the picked one. */
export function ChunkTable({ chunks, looksTwice, chunk, onPick }: ChunkTableProps) {
  const texts = useTexts();
  const { t, format } = texts;
  const columns = useMemo(() => chunkColumns(texts, looksTwice), [texts, looksTwice]);
  const rowAt = useMemo(() => (index: number) => chunks[index], [chunks]);
  return (
    <section>
      <h3 className={classes.subtitle}>{t('chunks.list')}</h3>
      <VirtualTable
        label={t('chunks.list')}
        columns={columns}
        total={chunks.length}
        rowAt={rowAt}
        onOpen={onPick}
        isOpen={(candidate) => candidate.chunk === chunk?.chunk}
        height={(Math.min(chunks.length, ROWS_IN_SIGHT) + 1) * DENSE_ROW_HEIGHT + 4}
        rowHeight={DENSE_ROW_HEIGHT}
        empty={null}
      />
      {chunk && chunk.frames.length > 0 && (
        <table className="figures" style={{ marginTop: 12 }}>
          <caption>
            {t('chunks.framesOf', { start: format.integer(chunk.start), end: format.integer(chunk.end) })}
          </caption>
          <thead>
            <tr>
              <th scope="col">{t('chunks.frame')}</th>
              <th scope="col">{t('chunks.score1')}</th>
              <th scope="col">{t('chunks.score2')}</th>
            </tr>
          </thead>
          <tbody>
            {chunk.frames.map((frame) => (
              <tr key={frame.frame} data-marked={frame.frame === chunk.bestFrame}>
                <th scope="row">{frame.frame}</th>
                <td>{format.score(frame.score1)}</td>
                <td>{format.score(frame.score2)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function chunkColumns({ t, format }: Texts, looksTwice: boolean): VirtualColumn<ChunkResult>[] {
  return [
    {
      id: 'position',
      title: t('chunks.position'),
      width: 'minmax(140px, 1fr)',
      cell: (row) => `${format.integer(row.start)} – ${format.integer(row.end)}`,
    },
    {
      id: 'score',
      title: t('chunks.score'),
      width: '92px',
      align: 'end',
      cell: (row) => (row.virusScore === null ? '–' : format.score(row.virusScore)),
    },
    {
      id: 'frame',
      title: t('chunks.frame'),
      width: '84px',
      cell: (row) => row.bestFrame ?? '–',
    },
    {
      id: 'call',
      title: t('chunks.call'),
      width: 'minmax(120px, 1fr)',
      cell: (row) =>
        row.isVirus === null ? (
          <span className="muted">{t(`reason.${row.reason}`)}</span>
        ) : (
          <PredictionLabel prediction={row.isVirus ? 'virus' : 'others'} />
        ),
    },
    ...(looksTwice
      ? [
          {
            id: 'judged',
            title: t('column.judgedBy'),
            width: '96px',
            cell: (row: ChunkResult) => (row.judgedBy === null ? '–' : format.bases(row.judgedBy)),
          },
        ]
      : []),
  ];
}
