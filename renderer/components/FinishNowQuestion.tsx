import { useQuery } from '@tanstack/react-query';
import { useTexts } from '../i18n/index.ts';
import { queries } from '../state/connection.ts';
import { useLiveRun } from '../state/runs/liveRun.ts';

/** What is there of a run, what would be missing, and what becomes of both. */
export function FinishNowQuestion({ runId }: { runId: string }) {
  const { t } = useTexts();
  const found = useQuery(queries.results.counts.queryOptions({ input: { runId, filter: {} } })).data?.total;
  const live = useLiveRun((state) => (state.live?.run.runId === runId ? state.live : null));
  const known = live?.progress.prepare.records ?? 0;
  return (
    <>
      {live && found !== undefined && (
        <p>
          {t('run.finishNowCounts', {
            found,
            known,
            missing: Math.max(0, known - found),
            done: live.progress.inputs.done,
            files: live.progress.inputs.total,
          })}
        </p>
      )}
      <p>{t('run.finishNowHelp')}</p>
    </>
  );
}
