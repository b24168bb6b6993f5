import { Group, Stack } from '@mantine/core';
import type { StepProgress } from '../../electron/contract/index.ts';
import { ProgressBar } from './feedback/ProgressBar.tsx';
import { useTexts } from '../i18n/index.ts';
import { useEngineTexts } from '../state/engineTexts.ts';

/** The progress and remaining time of a download, check or import. */
export function WorkProgress({ progress }: { progress: StepProgress | null }) {
  const { t, format } = useTexts();
  const say = useEngineTexts();
  const step = progress
    ? say({ text: progress.step, wording: progress.wording ?? null })
    : t('steps.starting');
  const bytes = progress?.bytes;
  const figures = [
    bytes?.total
      ? t('common.of', { part: format.fileSize(bytes.done), whole: format.fileSize(bytes.total) })
      : '',
    progress?.remainingSeconds ? t('models.left', { time: format.duration(progress.remainingSeconds) }) : '',
  ].filter((text) => text !== '');
  return (
    <Stack gap={6} my={10}>
      <Group component="span" justify="space-between" gap="6px 12px">
        <span>{step}</span>
        <span className="muted">{figures.join(' · ')}</span>
      </Group>
      <ProgressBar label={step} fraction={progress?.fraction ?? null} />
      {progress?.line && (
        <span className="muted" role="status">
          {progress.line}
        </span>
      )}
    </Stack>
  );
}
