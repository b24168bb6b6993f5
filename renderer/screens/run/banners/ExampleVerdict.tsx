import { queries } from '../../../state/connection.ts';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { RunSummary } from '../../../../electron/contract/index.ts';
import { Banner } from '../../../components/feedback/Banner.tsx';
import { goToRun } from '../../../state/navigation.ts';
import { useTexts } from '../../../i18n/index.ts';
import { isExample } from '../../../state/computer/example.ts';
import { useSettings } from '../../../state/settings.ts';

/** After the example: does this installation give the expected answers? */
export function ExampleVerdict({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const { runId } = run;
  const info = useSettings((state) => state.info);
  const check = useQuery(
    queries.runs.checkExample.queryOptions({
      input: { runId },
      enabled: isExample(run, info) && run.state.phase === 'done',
    }),
  );
  const isDone = check.data !== undefined;
  const [wasDone] = useState(run.state.phase === 'done');
  useEffect(() => {
    // Whoever has watched it to its end wants to see what came of it.
    if (isDone && !wasDone) goToRun(runId, 'results');
  }, [isDone, wasDone, runId]);
  if (!check.data) return null;
  return check.data.matches ? (
    <Banner tone="good" title={t('example.works')}>
      {t('example.compared', { count: check.data.compared })}
    </Banner>
  ) : (
    <Banner tone="warn" title={t('example.differs')}>
      {check.data.message}
    </Banner>
  );
}
