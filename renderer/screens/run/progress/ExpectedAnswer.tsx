import { Box, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { ExpectedShares, Goal, RunSummary } from '../../../../electron/contract/index.ts';
import { BEST_SO_FAR } from '../../../../electron/contract/filter.ts';
import { isAtWork } from '../../../../electron/contract/runState.ts';
import { intervalText, sharePercent } from '../../../../electron/contract/shareEstimate.ts';
import { Section } from '../../../components/Card.tsx';
import { GoalField } from '../../../components/GoalField.tsx';
import { Hint } from '../../../components/Hint.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { engine, queries } from '../../../state/connection.ts';
import { hashOfRoute } from '../../../state/navigation.ts';
import { showSequence } from '../../../state/results/resultsView.ts';
import { useLiveRun } from '../../../state/runs/liveRun.ts';
import { useExpectedShares } from '../../../state/results/samplesFound.ts';
import { whileGrowing } from '../../../state/results/whileGrowing.ts';
import { EvidenceLabel } from '../../results/callLabels.tsx';
import { Ribbon } from '../../results/table/sequenceColumns.tsx';
import { useOnceMoreAtEnd } from './askingAgain.ts';

/** The viral share that the run is expected to have when it is done, and the best hits beside it. */
export function ExpectedAnswer({ run }: { run: RunSummary }) {
  const expected = useExpectedShares(run);
  if (!expected || expected.run.scored === 0) return null;
  return (
    <div className="columns" data-wide="last">
      <ViralShare run={run} expected={expected} />
      <BestHits run={run} />
    </div>
  );
}

/** Lets the user change, while the run is at work, when it may stop. */
function RunGoal({ run }: { run: RunSummary }) {
  const set = useMutation({
    mutationFn: (goal: Goal | null) => engine.runs.setGoal({ runId: run.runId, goal }),
  });
  const progress = useLiveRun((state) => state.live?.progress);
  const rest = progress?.remainingSeconds;
  return (
    <GoalField
      goal={run.goal}
      onChange={(goal) => set.mutate(goal)}
      isSample={run.plan.order === 'sample'}
      seconds={progress && rest ? progress.elapsedSeconds + rest.high : null}
    />
  );
}

function ViralShare({ run, expected }: { run: RunSummary; expected: ExpectedShares }) {
  const { t, format } = useTexts();
  const { isSample } = expected;
  const { unit, viral, scored, total, estimate } = expected.run;
  const percent = (value: number): string => sharePercent(value, format.percent);
  const share = estimate
    ? percent(estimate.share)
    : t('common.of', { part: format.integer(viral), whole: format.integer(scored) });
  // Without an estimate, why there is none.
  const interval = estimate
    ? intervalText(estimate, format.percent)
    : t(isSample ? 'viral.noIntervalYet' : 'viral.noInterval');
  const basis = t(unit === 'chunks' ? 'viral.fromChunks' : 'viral.fromSequences', {
    scored: format.integer(scored),
    total: format.integer(total),
  });
  return (
    <Section title={t('viral.share')} aside={basis}>
      <Hint label={t('viral.hint')}>
        <Text component="p" w="fit-content" tabIndex={0}>
          <Text span fz={22} fw={650}>
            {share}
          </Text>{' '}
          {interval}
        </Text>
      </Hint>
      {isAtWork(run) && run.request.where.kind === 'this_computer' && <RunGoal run={run} />}
    </Section>
  );
}

const MOST_HITS = 5;

/** The hits with the best evidence so far; each leads to its sequence in the results. */
function BestHits({ run }: { run: RunSummary }) {
  const { t, format } = useTexts();
  const { runId } = run;
  const page = useQuery({
    ...queries.results.page.queryOptions({
      input: { runId, ...BEST_SO_FAR, limit: MOST_HITS },
    }),
    ...whileGrowing(run),
  });
  useOnceMoreAtEnd(isAtWork(run), page.refetch);
  const hits = page.data?.items ?? [];
  const results = hashOfRoute({ screen: 'run', runId, tab: 'results' });
  if (hits.length === 0) return null;
  return (
    <Section title={t('hits.soFar')} aside={<a href={results}>{t('hits.all')}</a>}>
      <div style={{ overflowX: 'auto' }} tabIndex={0} role="group" aria-label={t('hits.soFar')}>
        <table className="figures">
          <thead>
            <tr>
              <th scope="col">{t('column.seqName')}</th>
              <th scope="col">{t('column.length')}</th>
              <Box component="th" scope="col" ta="left">
                {t('results.along')}
              </Box>
              <th scope="col">{t('column.virusScore')}</th>
              <th scope="col">{t('column.evidence')}</th>
            </tr>
          </thead>
          <tbody>
            {hits.map(({ row, seqName, length, ribbon, virusScore, evidence }) => (
              <tr key={row}>
                <th scope="row">
                  <a href={results} onClick={() => showSequence(runId, row)}>
                    {seqName}
                  </a>
                </th>
                <td>{format.integer(length)}</td>
                <td>
                  <Ribbon steps={ribbon} label={seqName} />
                </td>
                <td>{virusScore === null ? '–' : format.score(virusScore)}</td>
                <td>
                  <EvidenceLabel evidence={evidence} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
