import { fileName } from '../../../i18n/format.ts';
import { Button, Checkbox, Chip, CloseButton, Group, Popover, Select, TextInput } from '@mantine/core';
import { IconColumns3, IconDownload, IconSearch, IconX } from '@tabler/icons-react';
import { useMemo } from 'react';
import { predictionSchema, type RunSummary } from '../../../../electron/contract/index.ts';
import { useTexts } from '../../../i18n/index.ts';
import { openRunDialog } from '../../../state/runs/runDialog.ts';
import { changeView, clearFilters, isFiltered, useResultsView } from '../../../state/results/resultsView.ts';
import { useSequenceNotes } from '../../../state/results/sequenceNotes.ts';
import { MoreFilters } from './MoreFilters.tsx';
import { PresetsMenu } from './PresetsMenu.tsx';
import { RunActionsMenu } from '../RunActionsMenu.tsx';
import { HIDEABLE_COLUMNS } from './sequenceColumns.tsx';
import { useHiddenColumns } from './useHiddenColumns.ts';

const ALL = 'all';

export function ResultsToolbar({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const view = useResultsView();
  const hiddenColumns = useHiddenColumns();
  const { notes } = useSequenceNotes(run.runId);
  const { inputs } = run.plan;
  const inputOptions = useMemo(
    () => [
      { value: ALL, label: t('results.allFiles', { count: inputs.length }) },
      ...inputs.map((input, index) => ({ value: String(index), label: fileName(input.path) })),
    ],
    [inputs, t],
  );
  return (
    <Group gap="10px 8px" role="search" aria-label={t('results.filter')}>
      <TextInput
        flex="1 1 160px"
        maw={320}
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={
          view.search !== '' && (
            <CloseButton
              size="sm"
              aria-label={t('results.clearSearch')}
              onClick={() => changeView({ search: '' })}
            />
          )
        }
        placeholder={t('results.search')}
        aria-label={t('results.search')}
        value={view.search}
        maxLength={200}
        onChange={(event) => changeView({ search: event.currentTarget.value })}
      />
      {inputs.length > 1 && (
        <Select
          w={190}
          searchable
          aria-label={t('newRun.column.file')}
          data={inputOptions}
          value={view.input === null ? ALL : String(view.input)}
          onChange={(value) => changeView({ input: value === ALL || value === null ? null : Number(value) })}
        />
      )}
      <MoreFilters chunkLength={run.plan.chunkLength} />
      <Popover position="bottom-end" withArrow shadow="md" trapFocus>
        <Popover.Target>
          <Button variant="default" size="compact-sm" leftSection={<IconColumns3 size={16} aria-hidden />}>
            {t('results.columns')}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          {HIDEABLE_COLUMNS.map((column) => (
            <Checkbox
              key={column}
              my={6}
              size="xs"
              label={t(`results.column.${column}`)}
              checked={hiddenColumns[column] !== false}
              onChange={(event) =>
                changeView({
                  hiddenColumns: { ...view.hiddenColumns, [column]: event.currentTarget.checked },
                })
              }
            />
          ))}
        </Popover.Dropdown>
      </Popover>
      <Button
        ml="auto"
        variant="subtle"
        color="slate"
        size="compact-sm"
        aria-pressed={view.chartsShown}
        onClick={() => changeView({ chartsShown: !view.chartsShown })}
      >
        {t(view.chartsShown ? 'results.hideCharts' : 'results.showCharts')}
      </Button>
      <Group gap={8} wrap="nowrap">
        <Button
          leftSection={<IconDownload size={16} aria-hidden />}
          variant="light"
          onClick={() => openRunDialog(run.runId, 'export')}
        >
          {t('results.export')}
        </Button>
        <RunActionsMenu run={run} />
      </Group>
      <Group gap="8px 16px" flex="1 1 100%">
        <Chip.Group
          multiple
          value={[...view.predictions]}
          onChange={(values: string[]) =>
            changeView({ predictions: predictionSchema.options.filter((option) => values.includes(option)) })
          }
        >
          <Group gap={6} role="group" aria-label={t('results.call')}>
            {predictionSchema.options.map((prediction) => (
              <Chip key={prediction} value={prediction} size="xs" variant="outline">
                {t(`prediction.${prediction}`)}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
        <PresetsMenu run={run} />
        {(view.noted || (notes !== null && notes.size > 0)) && (
          <Chip size="xs" variant="outline" checked={view.noted} onChange={(noted) => changeView({ noted })}>
            {t('notes.only')}
          </Chip>
        )}
        {view.sample !== null && (
          <Button
            variant="light"
            size="compact-xs"
            rightSection={<IconX size={12} aria-hidden />}
            onClick={() => changeView({ sample: null })}
          >
            {t('results.onlySample', { sample: view.sample.name })}
          </Button>
        )}
        {view.other !== null && (
          <Button
            variant="light"
            size="compact-xs"
            rightSection={<IconX size={12} aria-hidden />}
            onClick={() => changeView({ other: null })}
          >
            {t(`others.agreement.${view.other.agreement}`, { title: view.other.title })}
          </Button>
        )}
        <Group component="span" gap={8} mih={22} fz="sm" c="dimmed">
          <span role="status">
            {view.shown === null ? t('common.loading') : t('results.shown', { count: view.shown })}
          </span>
          {isFiltered(view) && (
            <Button variant="subtle" size="compact-xs" onClick={clearFilters}>
              {t('results.clearFilters')}
            </Button>
          )}
        </Group>
      </Group>
    </Group>
  );
}
