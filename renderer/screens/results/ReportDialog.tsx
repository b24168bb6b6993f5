import { useMutation, useQuery } from '@tanstack/react-query';
import { Button, Group, Radio, Stack } from '@mantine/core';
import { Dialog } from '../../components/Dialog.tsx';
import { useState } from 'react';
import { reportListSchema, type ReportList, type RunSummary } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { PRESETS, useResultsView } from '../../state/results/resultsView.ts';
import { writeReport } from '../../state/results/useExport.ts';
import { isElectron } from '../../state/settings.ts';
import { sayError } from '../../state/say.ts';
import { ScopeChoice } from './ExportDialog.tsx';

/** Lets the user choose which sequences the report of a run lists, and its format. */
export function ReportDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const texts = useTexts();
  const { t } = texts;
  const isShortlist = useResultsView((view) => view.filter.shortlisted === true);
  const [chosen, choose] = useState<ReportList | null>(isShortlist ? 'shortlist' : null);
  const { runId } = run;
  const candidates = useQuery(
    queries.results.counts.queryOptions({ input: { runId, filter: PRESETS.candidates } }),
  ).data?.total;
  const reportList = chosen ?? (candidates === 0 ? 'virus' : 'candidates');
  const write = useMutation({
    mutationFn: async (kind: 'html' | 'pdf') => {
      await writeReport(run, { reportList, isPdf: kind === 'pdf' }, texts);
      onClose();
    },
    onError: sayError,
  });
  const isDesktop = isElectron();
  return (
    <Dialog opened onClose={onClose} title={t('report.title')}>
      <Radio.Group
        label={t('report.lists')}
        value={reportList}
        onChange={(value) => choose(reportListSchema.parse(value))}
      >
        <Stack gap={6} mt={6}>
          {reportListSchema.options.map((scope) => (
            <ScopeChoice key={scope} run={run} scope={scope} disabled={write.isPending} />
          ))}
        </Stack>
      </Radio.Group>
      <Group justify="flex-end" mt="lg" gap="sm">
        <Button
          variant={isDesktop ? 'default' : 'filled'}
          loading={write.isPending}
          onClick={() => write.mutate('html')}
          data-autofocus={!isDesktop || undefined}
        >
          {t('report.html')}
        </Button>
        {isDesktop && (
          <Button loading={write.isPending} onClick={() => write.mutate('pdf')} data-autofocus>
            {t('report.pdf')}
          </Button>
        )}
      </Group>
    </Dialog>
  );
}
