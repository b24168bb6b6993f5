import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Button, Group, Progress, Radio, Select, Stack, Text } from '@mantine/core';
import { Dialog } from '../../components/Dialog.tsx';
import { useState } from 'react';
import type { RunSummary, SequenceFilter } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { changeView, filterOf, PRESETS, useResultsView } from '../../state/results/resultsView.ts';
import { useExport } from '../../state/results/useExport.ts';

const SCOPES = ['shown', 'shortlist', 'candidates', 'virus', 'all'] as const;
type Scope = (typeof SCOPES)[number];
/** What most people open themselves; the rest is for other programs. */
const GROUPS = ['tables', 'sequences', 'browsers', 'summaries'] as const;
const FOR_PEOPLE: readonly string[] = ['xlsx', 'csv', 'fasta'];

interface ExportDialogProps {
  run: RunSummary;
  onClose: () => void;
}

export function ExportDialog({ run, onClose }: ExportDialogProps) {
  const { t, format, language } = useTexts();
  const view = useResultsView();
  const formats = useQuery(queries.results.exportFormats.queryOptions()).data ?? [];
  // The report, which is in no group, has a dialog of its own.
  const sorted = GROUPS.flatMap((group) => formats.filter((one) => one.group === group));
  const kind = formats.find(({ id }) => id === view.exportFormat);
  const [scope, setScope] = useState<Scope>(view.filter.shortlisted ? 'shortlist' : 'shown');
  const { write, fraction, cancel } = useExport(run, onClose);
  const filter = useScope(scope);
  const close = () => {
    cancel();
    onClose();
  };
  return (
    <Dialog opened onClose={close} title={t('export.title')}>
      <Stack gap="lg">
        <Select
          label={t('export.format')}
          description={kind?.texts[language].text}
          inputWrapperOrder={['label', 'input', 'description']}
          data={(['people', 'programs'] as const).map((group) => ({
            group: t(`export.group.${group}`),
            items: sorted
              .filter(
                ({ id, needsEmbeddings }) =>
                  FOR_PEOPLE.includes(id) === (group === 'people') &&
                  !(needsEmbeddings && run.plan.embeddings === null),
              )
              .map(({ id, texts }) => ({ value: id, label: texts[language].label })),
          }))}
          value={kind?.id ?? null}
          allowDeselect={false}
          maxDropdownHeight={420}
          onChange={(value) => changeView({ exportFormat: value ?? view.exportFormat })}
          disabled={write.isPending}
        />
        {kind?.isOfWholeRun === false && (
          <Radio.Group
            label={t('export.what')}
            value={scope}
            onChange={(value) => setScope(SCOPES.find((known) => known === value) ?? 'shown')}
          >
            <Stack gap={6} mt={6}>
              {SCOPES.map((value) => (
                <ScopeChoice key={value} run={run} scope={value} disabled={write.isPending} />
              ))}
            </Stack>
          </Radio.Group>
        )}
        {fraction !== null && (
          <div>
            <Progress value={100 * fraction} aria-label={t('export.progress')} />
            <Text size="xs" c="dimmed" mt={4}>
              {fraction === 0 ? t('export.starting') : format.percent(fraction)}
            </Text>
          </div>
        )}
      </Stack>
      <Group justify="flex-end" mt="lg" gap="sm">
        <Button variant="default" onClick={close}>
          {t('common.cancel')}
        </Button>
        <Button
          loading={write.isPending}
          disabled={!kind}
          onClick={() => kind && write.mutate({ format: kind, filter: kind.isOfWholeRun ? {} : filter })}
        >
          {t('common.export')}
        </Button>
      </Group>
    </Dialog>
  );
}

function useScope(scope: Scope): SequenceFilter {
  const view = useResultsView();
  const filters: Record<Scope, SequenceFilter> = {
    shown: filterOf(view),
    shortlist: { shortlisted: true },
    candidates: PRESETS.candidates,
    virus: PRESETS.relaxed,
    all: {},
  };
  return filters[scope];
}

interface ScopeChoiceProps {
  run: RunSummary;
  scope: Scope;
  disabled: boolean;
}

/** A selection of sequences, with the number of them. */
export function ScopeChoice({ run, scope, disabled }: ScopeChoiceProps) {
  const { t, format } = useTexts();
  const filter = useScope(scope);
  const counts = useQuery({
    ...queries.results.counts.queryOptions({ input: { runId: run.runId, filter } }),
    placeholderData: keepPreviousData,
  });
  const label = t(`export.scope.${scope}`);
  return (
    <Radio
      value={scope}
      disabled={disabled}
      label={counts.data ? `${label} (${format.integer(counts.data.total)})` : label}
      {...(scope === 'candidates' ? { description: t('presets.candidatesText') } : {})}
    />
  );
}
