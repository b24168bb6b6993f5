import { useMutation } from '@tanstack/react-query';
import { Box, Button, Group, TextInput } from '@mantine/core';
import { Card } from '../../components/Card.tsx';
import { Facts } from '../../components/Facts.tsx';
import { useTexts } from '../../i18n/index.ts';
import { choose } from '../../state/newRun/store.ts';
import { chooseFolder } from '../../state/pathChooser.ts';
import { useErrorTexts } from '../../state/engineTexts.ts';
import type { NewRunForm } from './useNewRunForm.ts';

export function OutputCard({ form }: { form: NewRunForm }) {
  const { t, format } = useTexts();
  const { estimate } = form;
  const errorTexts = useErrorTexts();
  const folderError = form.folderError && errorTexts(form.folderError);
  const pick = useMutation({
    mutationFn: async () => {
      const path = await chooseFolder('output');
      if (path !== null) choose({ outputDir: path });
    },
  });
  return (
    <Card title={t('newRun.output')}>
      <div className="columns" data-wide="last">
        <TextInput
          label={t('newRun.name')}
          description={t('newRun.nameHelp')}
          maxLength={200}
          value={form.choices.name}
          onChange={(event) => choose({ name: event.currentTarget.value })}
        />
        <Group gap={8} align="flex-start" wrap="nowrap">
          <TextInput
            flex={1}
            miw={0}
            label={t('newRun.folder')}
            description={t('newRun.folderHelp')}
            placeholder={estimate?.outputDir ?? ''}
            value={form.choices.outputDir ?? ''}
            error={folderError && `${folderError.cause ?? folderError.title} ${folderError.next}`}
            onChange={(event) => choose({ outputDir: event.currentTarget.value || null })}
          />
          <Button mt={38} variant="default" onClick={() => pick.mutate()}>
            {t('newRun.chooseOutput')}
          </Button>
        </Group>
      </div>
      <Box mt={14}>
        <Facts
          size="small"
          items={[
            { label: t('newRun.diskNeeded'), value: estimate ? format.fileSize(estimate.diskBytes) : '–' },
            {
              label: t('newRun.diskFree'),
              value: estimate
                ? estimate.diskFreeBytes === null
                  ? t('common.unknown')
                  : format.fileSize(estimate.diskFreeBytes)
                : '–',
            },
          ]}
        />
      </Box>
    </Card>
  );
}
