import { Banner } from '../../components/Banner.tsx';
import { useTexts } from '../../i18n/index.ts';
import { isExample } from '../../state/example.ts';
import { useQuery } from '../../state/useQuery.ts';

/** After the example: does this installation give the expected answers? */
export function ExampleVerdict({ runId }: { runId: string }) {
  const { t } = useTexts();
  const check = useQuery(isExample(runId) ? `example:${runId}` : null, (client, signal) =>
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
