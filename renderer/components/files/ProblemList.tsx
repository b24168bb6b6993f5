import { Stack, Text } from '@mantine/core';
import { inWords, severityOf, type InputFileProblem } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { useEngineTexts } from '../../state/engineTexts.ts';
import { Banner } from '../feedback/Banner.tsx';

const TONES = { blocks: 'bad', skipped: 'warn', warning: 'info' } as const;

/** What is wrong with a file, what that means, and the first records that have it. */
export function ProblemList({ problems }: { problems: readonly InputFileProblem[] }) {
  const { t } = useTexts();
  const say = useEngineTexts();
  if (problems.length === 0)
    return (
      <Banner bare tone="good">
        {t('newRun.noProblems')}
      </Banner>
    );
  return (
    <Stack component="ul" className="plain-list" gap={6}>
      {problems.map((problem) => {
        const severity = severityOf(problem.code);
        const { sentence, next } = inWords(problem);
        return (
          <li key={problem.code}>
            <Banner bare tone={TONES[severity]} title={say(sentence)}>
              <span className="muted">{say(next)}</span>
              {severity === 'skipped' &&
                problem.examples.map(({ row, name, detail }) => (
                  <Text key={`${row} ${name}`} fz="sm" c="dimmed">
                    {name}: {detail}
                  </Text>
                ))}
            </Banner>
          </li>
        );
      })}
    </Stack>
  );
}
