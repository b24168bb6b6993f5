import { useMutation, useQuery } from '@tanstack/react-query';
import { Button, Text } from '@mantine/core';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { Section } from '../../components/Card.tsx';
import { Guarded } from '../../components/feedback/Guarded.tsx';
import { useTexts } from '../../i18n/index.ts';
import { engine, queries } from '../../state/connection.ts';
import { askAgain } from '../../state/queryClient.ts';
import { whileInWork } from './whileInWork.ts';
import { useState } from 'react';
import { FailuresCard, UnusableCard } from './FailuresCard.tsx';
import { InputsCard } from './InputsCard.tsx';
import { ResultFilesCard } from './ResultFilesCard.tsx';

/** Shows failures first, then the inputs and the result files. */
export function FilesTab({ run }: { run: RunSummary }) {
  const [input, setInput] = useState<number | null>(null);
  return (
    <Guarded>
      <FailuresCard run={run} />
      <LeftOutCard run={run} />
      <UnusableCard run={run} />
      <InputsCard run={run} selected={input} onSelect={(one) => setInput(one.input)} />
      <ResultFilesCard run={run} />
    </Guarded>
  );
}

/** What the user left out by finishing early or skipping, and a way to compute it after all. */
function LeftOutCard({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const { runId } = run;
  const leftOut = useQuery({
    ...queries.runs.parts.queryOptions({ input: { runId } }),
    ...whileInWork(run),
  });
  const compute = useMutation({
    mutationFn: () => engine.runs.retry({ runId, parts: 'all' }),
    onSuccess: () => askAgain(queries.runs.key()),
  });
  if (!leftOut.data || leftOut.data.skipped === 0) return null;
  return (
    <Section
      title={t('files.leftOut')}
      aside={
        <Button size="compact-sm" loading={compute.isPending} onClick={() => compute.mutate()}>
          {t('goal.computeRest')}
        </Button>
      }
    >
      <Text mt={-4} mb={12} c="dimmed">
        {t('files.leftOutText')}
      </Text>
    </Section>
  );
}
