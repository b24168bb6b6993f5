import type { RunSummary } from '../../../electron/contract/index.ts';
import { Banner } from '../../components/Banner.tsx';
import { useTexts } from '../../i18n/index.ts';
import { isExample } from '../../state/example.ts';
import { useSettings } from '../../state/settings.ts';
import { useQuery } from '../../state/useQuery.ts';

/** After the example: does this installation give the expected answers? */
export function ExampleVerdict({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const { runId } = run;
  const info = useSettings((state) => state.info);
  const check = useQuery(isExample(run, info) ? `example:${runId}` : null, (client, signal) =>
    client.runs.checkExample({ runId }, { signal }),
  );
  if (!check.data) return null;
  return check.data.matches ? (
    <Banner tone="info" title={t('example.matches')}>
      {t('example.compared', { count: check.data.compared })}
    </Banner>
  ) : (
    <Banner tone="warn" title={t('example.differs')}>
      {check.data.message}
    </Banner>
  );
}
