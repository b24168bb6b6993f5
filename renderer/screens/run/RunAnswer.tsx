import { Anchor, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { shortestChunk, type RunSummary } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { hashOfRoute } from '../../state/navigation.ts';
import { secondLookOf } from '../../state/newRun/choices.ts';
import { prepareAgain } from '../../state/newRun/prepareAgain.ts';
import { useSamplesFound } from '../../state/results/samplesFound.ts';

/**
 * What a finished run found, in one line: viral sequences, those with strong evidence, controls, what is missing, and a second look where
 * sequences could not be judged.
 */
export function RunAnswer({ run }: { run: RunSummary }) {
  const { t, format } = useTexts();
  const { runId, state } = run;
  const found = useSamplesFound(run).data;
  const filter = { reasons: ['no_open_frame' as const] };
  const counts = queries.results.counts.queryOptions({ input: { runId, filter } });
  const notJudged = useQuery({ ...counts, enabled: state.phase === 'done' }).data?.total ?? 0;
  const models = useQuery(queries.computer.models.queryOptions()).data ?? [];
  if (!found || state.phase !== 'done') return null;
  const { strong, inControls } = found;
  const { virus, others } = found.all.byPrediction;
  const model = models.find(({ id }) => id === run.request.model);
  const second = model && !run.plan.secondLook ? secondLookOf(model, models) : null;
  const { failedInputs: files = 0, failedRecords: records, damage } = state;
  const missing = [
    ...(files > 0 ? [t('answer.files', { count: files })] : []),
    ...(records > 0 ? [t('answer.records', { count: records })] : []),
    ...(damage && damage.records > 0 ? [t('answer.damaged', { count: damage.records })] : []),
    ...(damage && damage.lines > 0 ? [t('answer.lines', { count: damage.lines })] : []),
  ];
  return (
    <Text span>
      <Text span c="var(--text)" fw={600}>
        {t('answer.viral', {
          viral: format.integer(virus),
          called: format.integer(virus + others),
        })}
      </Text>
      {', '}
      {t('answer.strong', { count: strong })}
      {inControls &&
        ` · ${t('answer.control', { controls: inControls.samples, count: inControls.byPrediction.virus })}`}
      {missing.length > 0 && (
        <>
          {' · '}
          <a href={hashOfRoute({ screen: 'run', runId, tab: 'files' })}>{format.list(missing)}</a>
        </>
      )}
      {notJudged > 0 && ` · ${t('answer.notJudged', { count: notJudged, length: shortestChunk(run.plan) })}`}
      {notJudged > 0 && second && (
        <>
          {' · '}
          <Anchor
            component="button"
            inherit
            onClick={() =>
              void prepareAgain(run, {
                secondChunkLength: second.length,
                reuseEmbeddings: run.folder,
              })
            }
          >
            {t('answer.lookAgain', { second: second.length })}
          </Anchor>
        </>
      )}
    </Text>
  );
}
