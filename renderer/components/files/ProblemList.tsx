import { Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconCircleX, IconInfoCircle } from '@tabler/icons-react';
import { inWords, severityOf, type InputFileProblem } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { useEngineTexts } from '../../state/engineTexts.ts';

const ICONS = { blocks: IconCircleX, skipped: IconAlertTriangle, warning: IconInfoCircle };

/** What is wrong with a file, what that means, and the first records that have it. */
export function ProblemList({ problems }: { problems: readonly InputFileProblem[] }) {
  const { t } = useTexts();
  const say = useEngineTexts();
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
        const severity = severityOf(problem.code);
        const Icon = ICONS[severity];
        const { sentence, next } = inWords(problem);
        return (
          <Group component="li" key={problem.code} gap={8} align="flex-start" wrap="nowrap">
            <Icon
              color={severity === 'blocks' ? 'var(--bad)' : 'var(--warn)'}
              size={18}
              style={{ flex: 'none' }}
              aria-hidden
            />
            <div>
              <Text span fw={560}>
                {say(sentence)}
              </Text>{' '}
              <span className="muted">{say(next)}</span>
              {severity === 'skipped' &&
                problem.examples.map(({ row, name, detail }) => (
                  <Text key={`${row} ${name}`} fz="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                    {name}: {detail}
                  </Text>
                ))}
            </div>
          </Group>
        );
      })}
    </Stack>
  );
}
