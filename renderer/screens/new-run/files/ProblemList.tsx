import { Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconCircleX, IconInfoCircle } from '@tabler/icons-react';
import type { InputFileProblem } from '../../../../electron/contract/index.ts';
import { useTexts } from '../../../i18n/index.ts';
import { useProblemTexts } from '../../../state/problemTexts.ts';

const ICONS = { blocks: IconCircleX, skipped: IconAlertTriangle, warning: IconInfoCircle };

/** What was found in a file, with what will happen to it. */
export function ProblemList({ problems }: { problems: readonly InputFileProblem[] }) {
  const { t } = useTexts();
  const sayProblem = useProblemTexts();
  if (problems.length === 0) {
    return (
      <Group component="p" gap={8} m={0} align="flex-start" wrap="nowrap">
        <IconCircleCheck color="var(--good)" size={18} aria-hidden /> {t('newRun.noProblems')}
      </Group>
    );
  }
  return (
    <Stack component="ul" className="plain-list" gap={6}>
      {problems.map((problem) => {
        const Icon = ICONS[problem.severity];
        const { message, effect } = sayProblem(problem);
        return (
          <Group component="li" key={problem.code} gap={8} align="flex-start" wrap="nowrap">
            <Icon
              color={problem.severity === 'blocks' ? 'var(--bad)' : 'var(--warn)'}
              size={18}
              style={{ flex: 'none' }}
              aria-hidden
            />
            <div>
              <Text span fw={560}>
                {message}
              </Text>{' '}
              <span className="muted">{effect}</span>
            </div>
          </Group>
        );
      })}
    </Stack>
  );
}
