import { CloseButton, Group, Stack, Text } from '@mantine/core';
import { fileName } from '../../../i18n/names.ts';
import { ProblemList } from '../../../components/files/ProblemList.tsx';
import { Facts } from '../../../components/Facts.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { type ListedFile, problemsOf, verdictOf } from '../../../state/newRun/inspection.ts';
import { selectFile } from '../../../state/newRun/store.ts';
import classes from './FilesCard.module.css';

/** One file of the preview: its figures, and each problem with its effect. */
export function FileDetails({ file, chunkLength }: { file: ListedFile; chunkLength: number }) {
  const { t, format } = useTexts();
  const { inspected } = file;
  if (!inspected) return null;

  const name = fileName(file.path);
  const isBlocked = verdictOf(file) === 'blocked';
  return (
    <Stack component="section" className={classes.details ?? ''} gap={12} tabIndex={0} aria-label={name}>
      <Group gap={8} justify="space-between" align="flex-start" wrap="nowrap">
        <Text component="h3" fz={15} fw={620} style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        <CloseButton size="sm" aria-label={t('common.close')} onClick={() => selectFile(file.path)} />
      </Group>
      <ProblemList problems={problemsOf(inspected, chunkLength)} />
      {!isBlocked && (
        <Facts
          size="small"
          items={[
            { label: t('newRun.format'), value: t(`format.${inspected.format}`) },
            { label: t('newRun.size'), value: format.fileSize(inspected.size_bytes) },
            { label: t('newRun.shortest'), value: format.bases(inspected.min_length) },
            { label: t('newRun.median'), value: format.bases(inspected.median_length) },
            { label: t('newRun.longest'), value: format.bases(inspected.max_length) },
            {
              label: t('newRun.ambiguous'),
              value: format.percent(inspected.ambiguous_fraction, 1),
              hint: t('newRun.ambiguousHint'),
            },
          ]}
        />
      )}
    </Stack>
  );
}
