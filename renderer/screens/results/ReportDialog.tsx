import { useMutation } from '@tanstack/react-query';
import { Button, Checkbox, Group, Stack } from '@mantine/core';
import { Dialog } from '../../components/Dialog.tsx';
import { useState } from 'react';
import { reportPartSchema, type ReportPart, type RunSummary } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { printReport, writeReport } from '../../state/results/useExport.ts';
import { isElectron } from '../../state/settings.ts';
import { sayError } from '../../state/say.ts';

const PARTS = reportPartSchema.options;

/** Lets the user choose what the report of a run contains besides the answer, and its format. */
export function ReportDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const texts = useTexts();
  const { t } = texts;
  const [parts, setParts] = useState<readonly ReportPart[]>(PARTS);
  const write = useMutation({
    mutationFn: async (kind: 'html' | 'pdf' | 'print') => {
      if (kind === 'print') await printReport(run, parts, texts);
      else await writeReport(run, { parts, isPdf: kind === 'pdf' }, texts);
      onClose();
    },
    onError: sayError,
  });
  const isDesktop = isElectron();
  return (
    <Dialog opened onClose={onClose} title={t('report.title')}>
      <Checkbox.Group
        label={t('report.parts')}
        value={[...parts]}
        onChange={(value) => setParts(PARTS.filter((part) => value.includes(part)))}
      >
        <Stack gap={8} mt={8}>
          {PARTS.map((part) => (
            <Checkbox key={part} value={part} label={t(`report.part.${part}`)} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Group justify="flex-end" mt="lg" gap="sm">
        <Button variant="default" disabled={write.isPending} onClick={() => write.mutate('html')}>
          {t('report.html')}
        </Button>
        <Button
          loading={write.isPending}
          onClick={() => write.mutate(isDesktop ? 'pdf' : 'print')}
          data-autofocus
        >
          {t(isDesktop ? 'report.pdf' : 'report.print')}
        </Button>
      </Group>
    </Dialog>
  );
}
