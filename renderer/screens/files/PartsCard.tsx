import { fileName, partNumber } from '../../i18n/names.ts';
import { queries } from '../../state/connection.ts';
import { Button, Select } from '@mantine/core';
import { useCallback, useMemo, useState } from 'react';
import {
  partStateSchema,
  type InputStatus,
  type RunSummary,
  type PartState,
  type PartStatus,
} from '../../../electron/contract/index.ts';
import { Section } from '../../components/Card.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { StateBadge } from '../../components/feedback/StateBadge.tsx';
import { VirtualTable, type VirtualColumn } from '../../components/table/VirtualTable.tsx';
import { useTexts, type Texts } from '../../i18n/index.ts';
import { useDeviceLabels } from '../../state/runs/deviceLabels.ts';
import { usePagedRows } from '../../state/results/pagedRows.ts';
import { LogDialog } from './LogDialog.tsx';
import { whileInWork } from './whileInWork.ts';

interface PartsCardProps {
  run: RunSummary;
  /** Shows only this input's parts; null shows all parts. */
  input: InputStatus | null;
  onShowAll: () => void;
}

const ANY = 'any';

export function PartsCard({ run, input, onShowAll }: PartsCardProps) {
  const texts = useTexts();
  const { t } = texts;
  const [state, setState] = useState<PartState | null>(null);
  const [log, setLog] = useState<string | null>(null);
  const rows = usePagedRows((range) => ({
    ...queries.runs.parts.queryOptions({
      input: {
        runId: run.runId,
        ...range,
        ...(input === null ? {} : { input: input.input }),
        ...(state === null ? {} : { state }),
      },
    }),
    ...whileInWork(run),
  }));
  const deviceLabel = useDeviceLabels();
  const columns = useMemo(() => partColumns(texts, deviceLabel, setLog), [texts, deviceLabel]);
  const openNothing = useCallback(() => {}, []);
  return (
    <Section
      title={input === null ? t('files.partsOfAll') : t('files.partsOf', { name: fileName(input.path) })}
      aside={
        <>
          {input !== null && (
            <Button variant="subtle" color="slate" size="compact-sm" onClick={onShowAll}>
              {t('files.showAllParts')}
            </Button>
          )}
          <Select
            size="xs"
            w={150}
            aria-label={t('files.column.state')}
            data={[
              { value: ANY, label: t('files.anyState') },
              ...partStateSchema.options.map((value) => ({ value, label: t(`partState.${value}`) })),
            ]}
            value={state ?? ANY}
            onChange={(value) => setState(partStateSchema.options.find((known) => known === value) ?? null)}
          />
        </>
      }
    >
      {rows.error && <ErrorCard error={rows.error} />}
      <VirtualTable
        label={t('files.parts')}
        columns={columns}
        total={rows.total ?? 0}
        rowAt={rows.rowAt}
        onRangeChange={rows.onRangeChange}
        onOpen={openNothing}
        height={320}
        empty={
          <span className="muted">{rows.total === null ? t('common.loading') : t('files.noParts')}</span>
        }
      />
      <LogDialog runId={run.runId} path={log} onClose={() => setLog(null)} />
    </Section>
  );
}

function partColumns(
  { t, format }: Texts,
  deviceLabel: (id: string | null) => string,
  showLog: (path: string) => void,
): VirtualColumn<PartStatus>[] {
  return [
    {
      id: 'key',
      title: t('files.column.part'),
      width: '84px',
      cell: (row) => partNumber(row.key),
    },
    {
      id: 'state',
      title: t('files.column.state'),
      width: '132px',
      cell: (row) => <StateBadge state={`partState.${row.state}`} />,
    },
    {
      id: 'rows',
      title: t('common.sequences'),
      width: 'minmax(140px, 1fr)',
      align: 'end',
      cell: (row) => `${format.integer(row.firstRow + 1)} – ${format.integer(row.lastRow + 1)}`,
    },
    {
      id: 'frames',
      title: t('common.frames'),
      width: '110px',
      align: 'end',
      cell: (row) => format.integer(row.frames),
    },
    {
      id: 'device',
      title: t('files.column.device'),
      width: 'minmax(110px, 1fr)',
      cell: (row) => deviceLabel(row.device),
    },
    {
      id: 'seconds',
      title: t('files.column.time'),
      width: '90px',
      align: 'end',
      cell: (row) => (row.seconds === null ? '–' : format.seconds(row.seconds)),
    },
    {
      id: 'attempts',
      title: t('files.column.attempts'),
      width: '84px',
      align: 'end',
      cell: (row) => format.integer(row.attempts),
    },
    {
      id: 'log',
      title: t('table.actions'),
      width: '76px',
      align: 'end',
      titleHidden: true,
      cell: (row) => {
        const { logPath } = row;
        return logPath === null ? null : (
          <Button variant="subtle" size="compact-xs" onClick={() => showLog(logPath)}>
            {t('files.log')}
          </Button>
        );
      },
    },
  ];
}
