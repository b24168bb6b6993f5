import { queries } from '../../state/connection.ts';
import { useQuery } from '@tanstack/react-query';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { Banner } from '../../components/Banner.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useSettings, type ShellInfo } from '../../state/settings.ts';

/** After the example: does this installation give the expected answers? */
export function ExampleVerdict({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const { runId } = run;
  const info = useSettings((state) => state.info);
  const check = useQuery(
    queries.runs.checkExample.queryOptions({ input: { runId }, enabled: isExample(run, info) }),
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

/** The engine keeps the example in a folder of its own among the program's data, so that every window knows it. */
function isExample(run: Pick<RunSummary, 'folder'>, info: Pick<ShellInfo, 'dataDir'> | null): boolean {
  if (!info || !run.folder.startsWith(info.dataDir)) return false;
  return /^[\\/]example[^\\/]*$/.test(run.folder.slice(info.dataDir.length));
}
