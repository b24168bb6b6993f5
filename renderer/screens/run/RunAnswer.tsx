import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { CONSERVATIVE, type RunSummary } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { hashOfRoute } from '../../state/navigation.ts';

/** What a finished run found, in one line: viral sequences, those with strong evidence, controls, and what is missing. */
export function RunAnswer({ run }: { run: RunSummary }) {
  const { t, format } = useTexts();
  const { runId, state } = run;
  const of = (filter: typeof CONSERVATIVE | Record<string, never>) =>
    queries.results.counts.queryOptions({ input: { runId, filter } });
  const counts = useQuery(of({})).data?.byPrediction;
  const strong = useQuery(of(CONSERVATIVE)).data?.total;
  const { data: samples } = useQuery(queries.results.samples.queryOptions({ input: { runId } }));
  if (!counts || strong === undefined || state.phase !== 'done') return null;
  const controls = samples?.items.filter(({ control }) => control) ?? [];
  const inControls = controls.reduce((sum, { byPrediction }) => sum + byPrediction.virus, 0);
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
          viral: format.integer(counts.virus),
          called: format.integer(counts.virus + counts.others),
        })}
      </Text>
      {', '}
      {t('answer.strong', { count: strong })}
      {controls.length > 0 && ` · ${t('answer.control', { controls: controls.length, count: inControls })}`}
      {missing.length > 0 && (
        <>
          {' · '}
          <a href={hashOfRoute({ screen: 'run', runId, tab: 'files' })}>{format.list(missing)}</a>
        </>
      )}
    </Text>
  );
}
