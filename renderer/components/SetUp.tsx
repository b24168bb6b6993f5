import { Stack, Text } from '@mantine/core';
import type { SetUpPlan, StepProgress } from '../../electron/contract/index.ts';
import { useTexts } from '../i18n/index.ts';
import { useEngineTexts } from '../state/engineTexts.ts';
import { ProgressBar } from './feedback/ProgressBar.tsx';
import { Fold } from './Fold.tsx';

/** Download speeds of 100 and 20 Mbit/s, and the time that unpacking and checking add. */
const FAST = { bytesPerSecond: 12.5e6, besides: 60 };
const SLOW = { bytesPerSecond: 2.5e6, besides: 120 };

/** The download size and time: "2.8 GB, 5–20 min". */
export function useSetUpSize(plan: SetUpPlan | null): string | null {
  const { t, format } = useTexts();
  const bytes = plan?.downloadBytes;
  if (bytes === null || bytes === undefined) return null;
  const seconds = (rate: typeof FAST) => bytes / rate.bytesPerSecond + rate.besides;
  return t('setUp.size', {
    size: format.fileSize(bytes),
    time: format.durationRange(seconds(FAST), seconds(SLOW)),
  });
}

/** A set-up under way: the current step, its progress, and the time left. The installer's output is folded away. */
export function SetUpProgress({ progress }: { progress: StepProgress }) {
  const { t, format } = useTexts();
  const { bytes, elapsedSeconds, remainingSeconds, stepNumber, stepCount } = progress;
  const say = useEngineTexts();
  const stage = say({ text: progress.step, wording: progress.wording ?? null });
  const facts = [
    t('steps.count', { number: stepNumber, count: stepCount }),
    bytes && bytes.total !== null && bytes.total > 0
      ? t('common.of', { part: format.fileSize(bytes.done), whole: format.fileSize(bytes.total) })
      : null,
    elapsedSeconds === undefined ? null : t('setUp.elapsed', { time: format.duration(elapsedSeconds) }),
    remainingSeconds ? t('setUp.left', { time: format.duration(remainingSeconds) }) : null,
  ].filter((fact) => fact !== null);
  return (
    <Stack gap={6} w="100%" align="flex-start">
      <Text fw={560} role="status">
        {stage}
      </Text>
      <ProgressBar label={stage} fraction={bytes?.total ? progress.fraction : null} size="large" />
      <Text fz="sm" c="dimmed">
        {facts.join(' · ')}
      </Text>
      <Fold title={t('setUp.details')}>
        <Text className="text-box" mt={4} w="100%">
          {progress.step}
          {progress.line && `: ${progress.line}`}
        </Text>
      </Fold>
    </Stack>
  );
}
