import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Button, Progress, Radio, Select, Stack, Text } from '@mantine/core';
import { Dialog, DialogButtons } from '../../components/Dialog.tsx';
import { useState } from 'react';
import type { RunSummary, SequenceFilter } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { changeView, filterOf, PRESETS, useResultsView } from '../../state/results/resultsView.ts';
import { useExport } from '../../state/results/useExport.ts';
import { useShownColumns } from './table/useSequenceColumns.ts';

const SCOPES = ['shown', 'shortlist', 'candidates', 'virus', 'all'] as const;
type Scope = (typeof SCOPES)[number];
/** What most people open themselves; the rest is for other programs. */
const FOR_PEOPLE: readonly string[] = ['xlsx', 'csv', 'fasta'];

interface ExportDialogProps {
  run: RunSummary;
  onClose: () => void;
}

export function ExportDialog({ run, onClose }: ExportDialogProps) {
  const { t, format, language } = useTexts();
  const view = useResultsView();
  const formats = useQuery(queries.results.exportFormats.queryOptions()).data ?? [];
  const forPrograms = formats.filter(
    ({ id, isOffered, needsEmbeddings }) =>
      isOffered && !FOR_PEOPLE.includes(id) && !(needsEmbeddings && run.plan.embeddings === null),
  );
  const kind = formats.find(({ id }) => id === view.exportFormat);
  const isForPrograms = !FOR_PEOPLE.includes(view.exportFormat);
  const choose = (id: string | null) => id !== null && changeView({ exportFormat: id });
  const [scope, setScope] = useState<Scope>(view.filter.shortlisted ? 'shortlist' : 'shown');
  const { write, fraction, cancel } = useExport(run, onClose);
  const filter = useScope(scope);
  const columns = useShownColumns(run);
  const close = () => {
    cancel();
    onClose();
  };
  return (
    <Dialog opened onClose={close} title={t('export.title')}>
      <Stack gap="lg">
        <Radio.Group label={t('export.format')} value={kind?.id ?? null} onChange={choose}>
          <Stack gap={6} mt={6}>
            {FOR_PEOPLE.flatMap((id) => formats.find((one) => one.id === id) ?? []).map(({ id, texts }) => (
              <Radio
                key={id}
                value={id}
                disabled={write.isPending}
                label={texts[language].label}
                description={texts[language].text}
              />
            ))}
          </Stack>
        </Radio.Group>
        <Select
          label={t('export.forPrograms')}
          placeholder={t('export.choose')}
          description={isForPrograms ? kind?.texts[language].text : undefined}
          inputWrapperOrder={['label', 'input', 'description']}
          data={forPrograms.map(({ id, texts }) => ({ value: id, label: texts[language].label }))}
          value={isForPrograms ? (kind?.id ?? null) : null}
          allowDeselect={false}
          maxDropdownHeight={420}
          onChange={choose}
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
      <DialogButtons onClose={close}>
        <Button
          loading={write.isPending}
          disabled={!kind}
          onClick={() =>
            kind &&
            write.mutate({
              format: kind,
              filter: kind.isOfWholeRun ? {} : filter,
              ...(scope === 'shown' && { columns }),
            })
          }
        >
          {t('common.export')}
        </Button>
      </DialogButtons>
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
