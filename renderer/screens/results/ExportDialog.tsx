import { useMutation } from '@tanstack/react-query';
import { Button, Checkbox, Group, Modal, Radio, Stack } from '@mantine/core';
import { useState } from 'react';
import {
  demoMark,
  DEMO_SUFFIX,
  type RunSummary,
  type SequenceFilter,
} from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';
import { isElectron } from '../../state/settings.ts';
import { say } from '../../state/say.ts';

const FORMATS = ['tsv', 'csv', 'fasta'] as const;
type Format = (typeof FORMATS)[number];
const SCOPES = ['shown', 'virus', 'all'] as const;
type Scope = (typeof SCOPES)[number];
const EXTENSIONS: Record<Format, string> = { tsv: 'tsv', csv: 'csv', fasta: 'fna' };

interface ExportDialogProps {
  run: RunSummary;
  filter: SequenceFilter;
  opened: boolean;
  onClose: () => void;
}

export function ExportDialog({ run, filter, opened, onClose }: ExportDialogProps) {
  const { t, format } = useTexts();
  const [kind, setKind] = useState<Format>('tsv');
  const [scope, setScope] = useState<Scope>('shown');
  const [byteOrderMark, setByteOrderMark] = useState(false);
  const filters: Record<Scope, SequenceFilter> = {
    shown: filter,
    virus: { predictions: ['virus'] },
    all: {},
  };

  const write = useMutation({
    mutationFn: async () => {
      const request = {
        runId: run.runId,
        filter: filters[scope],
        format: kind,
        byteOrderMark: kind !== 'fasta' && byteOrderMark,
      };
      if (isElectron()) {
        const mark = demoMark(run.plan.model) === null || run.name.endsWith(DEMO_SUFFIX) ? '' : DEMO_SUFFIX;
        const suggestedName = `${run.name.replace(/[^\p{L}\p{N}._-]+/gu, '_')}${mark}.${EXTENSIONS[kind]}`;
        const { path } = await engine.shell.chooseSaveFile({ suggestedName });
        if (path === null) return;
        const written = await engine.results.export({ ...request, path });
        say(
          t('export.written', {
            sequences: format.integer(written.sequences),
            count: written.sequences,
            path: written.path,
          }),
        );
      } else {
        const written = await engine.results.export(request);
        if (written.downloadPath !== null) download(written.downloadPath);
        say(
          t('export.downloaded', {
            sequences: format.integer(written.sequences),
            count: written.sequences,
            size: format.fileSize(written.bytes),
          }),
        );
      }
      onClose();
    },
  });
  return (
    <Modal opened={opened} onClose={onClose} title={t('export.title')}>
      <Stack gap="lg">
        <Radio.Group
          label={t('export.what')}
          value={scope}
          onChange={(value) => setScope(SCOPES.find((known) => known === value) ?? 'shown')}
        >
          <Stack gap={6} mt={6}>
            {SCOPES.map((value) => (
              <Radio key={value} value={value} label={t(`export.scope.${value}`)} />
            ))}
          </Stack>
        </Radio.Group>
        <Radio.Group
          label={t('export.format')}
          value={kind}
          onChange={(value) => setKind(FORMATS.find((known) => known === value) ?? 'tsv')}
        >
          <Stack gap={6} mt={6}>
            {FORMATS.map((value) => (
              <Radio
                key={value}
                value={value}
                label={t(`export.format.${value}`)}
                description={t(`export.formatText.${value}`)}
              />
            ))}
          </Stack>
        </Radio.Group>
        {kind !== 'fasta' && (
          <Checkbox
            label={t('export.bom')}
            checked={byteOrderMark}
            onChange={(event) => setByteOrderMark(event.currentTarget.checked)}
          />
        )}
      </Stack>
      <Group justify="flex-end" mt="lg" gap="sm">
        <Button variant="default" onClick={onClose}>
          {t('common.cancel')}
        </Button>
        <Button loading={write.isPending} onClick={() => write.mutate()}>
          {t('export.write')}
        </Button>
      </Group>
    </Modal>
  );
}

function download(path: string): void {
  const link = document.createElement('a');
  link.href = new URL(path.replace(/^\//, ''), location.href.split('#')[0]).href;
  link.download = '';
  link.click();
}
