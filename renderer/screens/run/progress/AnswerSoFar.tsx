import { Box, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Area } from 'recharts';
import type { Goal, RunSummary, ShareSoFar, ViralShares } from '../../../../electron/contract/index.ts';
import { isAtWork } from '../../../../electron/contract/runState.ts';
import { estimateText, intervalText, sharePercent } from '../../../../electron/contract/shareEstimate.ts';
import { Section } from '../../../components/Card.tsx';
import { BASE_LINE, MARGIN, niceTop } from '../../../components/charts/axes.ts';
import { Plot } from '../../../components/charts/Plot.tsx';
import { Fold } from '../../../components/Fold.tsx';
import { GoalField } from '../../../components/GoalField.tsx';
import { Hint } from '../../../components/Hint.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { engine, queries } from '../../../state/connection.ts';
import { hashOfRoute } from '../../../state/navigation.ts';
import { showSequence } from '../../../state/results/resultsView.ts';
import { whileGrowing } from '../../../state/results/whileGrowing.ts';
import { EvidenceLabel } from '../../results/callLabels.tsx';
import { Ribbon } from '../../results/table/sequenceColumns.tsx';
import { useOnceMoreAtEnd } from './askingAgain.ts';

const EVERY_MS = 5_000;

/** Polled every few seconds while the run is at work; the engine recounts only as often as that is cheap. */
export function useViralShares(run: RunSummary | null) {
  const atWork = run !== null && isAtWork(run);
  const answer = useQuery(
    queries.runs.viralSoFar.queryOptions({
      input: { runId: run?.runId ?? '' },
      enabled: run !== null && run.state.phase !== 'created',
      refetchInterval: atWork && EVERY_MS,
    }),
  );
  useOnceMoreAtEnd(atWork, answer.refetch);
  return answer.data;
}

function useShareTexts(isSample: boolean) {
  const { t, format } = useTexts();
  const shareFormat = {
    percent: format.percent,
    range: (low: string, high: string) => t('viral.interval', { low, high }),
  };
  return {
    shareFormat,
    percent: (share: number): string => sharePercent(share, shareFormat),
    /** The estimated share in the finished run, or, without an estimate, the count so far. */
    share: ({ viral, scored, estimate }: ShareSoFar): string =>
      scored === 0
        ? '–'
        : estimate === null
          ? t('common.of', { part: format.integer(viral), whole: format.integer(scored) })
          : sharePercent(estimate.share, shareFormat),
    /** The estimate's interval, or, without an estimate, why there is none. */
    interval: ({ estimate }: ShareSoFar): string =>
      estimate === null
        ? t(isSample ? 'viral.noIntervalYet' : 'viral.noInterval')
        : intervalText(estimate, shareFormat),
    basis: ({ unit, scored, total }: ShareSoFar): string =>
      t(unit === 'chunks' ? 'viral.fromChunks' : 'viral.fromSequences', {
        scored: format.integer(scored),
        total: format.integer(total),
      }),
  };
}

/** What the run has found so far, with the interval for its final result, and the best hits beside it. */
export function AnswerSoFar({ run }: { run: RunSummary }) {
  const found = useViralShares(run);
  if (!found || found.run.scored === 0) return null;
  return (
    <div className="columns" data-wide="last">
      <ViralShare run={run} found={found} />
      <Stack gap={12}>
        <BestHits run={run} />
        <SampleShares found={found} />
      </Stack>
    </div>
  );
}

/** Lets the user change, while the run is at work, when it may stop. */
function RunGoal({ run }: { run: RunSummary }) {
  const set = useMutation({
    mutationFn: (goal: Goal | null) => engine.runs.setGoal({ runId: run.runId, goal }),
  });
  return (
    <GoalField goal={run.goal} onChange={(goal) => set.mutate(goal)} isSample={run.plan.order === 'sample'} />
  );
}

function ViralShare({ run, found }: { run: RunSummary; found: ViralShares }) {
  const { t, format } = useTexts();
  const { isSample, curve } = found;
  const texts = useShareTexts(isSample);
  const top = niceTop(Math.max(...curve.map(({ high }) => high)) * 100);
  return (
    <Section title={t('common.calledVirus')}>
      <Hint label={`${t('viral.hint')} ${texts.basis(found.run)}`}>
        <Text component="p" w="fit-content" tabIndex={0}>
          <Text span fz={22} fw={650}>
            {texts.share(found.run)}
          </Text>{' '}
          {texts.interval(found.run)}
        </Text>
      </Hint>
      {curve.length > 1 && (
        <Plot
          kind="area"
          title={t('common.calledVirus')}
          summary={`${texts.share(found.run)} ${texts.interval(found.run)}`}
          height={110}
          table={() => ({
            columns: [t('viral.computed'), t('viral.share'), t('viral.low'), t('viral.high')],
            rows: curve.map(({ fraction, share, low, high }) =>
              [fraction, share, low, high].map((value) => texts.percent(value)),
            ),
          })}
          data={curve}
          margin={MARGIN}
          x={{
            type: 'number',
            dataKey: 'fraction',
            domain: [0, 1],
            ticks: [0, 0.5, 1],
            tickFormatter: (fraction: number) => format.percent(fraction),
            axisLine: BASE_LINE,
          }}
          y={{
            domain: [0, top / 100],
            ticks: [0, top / 100],
            tickFormatter: (share: number) => texts.percent(share),
            axisLine: false,
          }}
          tip={({ fraction, ...estimate }) => ({
            title: t('viral.when', { fraction: format.percent(fraction, 1) }),
            lines: [estimateText(estimate, texts.shareFormat)],
          })}
        >
          <Area
            dataKey={({ low, high }: { low: number; high: number }) => [low, high]}
            stroke="none"
            fill="var(--virus)"
            fillOpacity={0.18}
            isAnimationActive={false}
          />
          <Area dataKey="share" stroke="var(--virus)" fill="none" isAnimationActive={false} />
        </Plot>
      )}
      {isAtWork(run) && run.request.where.kind === 'this_computer' && <RunGoal run={run} />}
    </Section>
  );
}

/** Many samples scroll, so that the devices below stay near. */
const MOST_SAMPLES_PX = 240;

function SampleShares({ found: { isSample, samples } }: { found: ViralShares }) {
  const { t, format } = useTexts();
  const texts = useShareTexts(isSample);
  const restsOn = samples.every(({ unit }) => unit === 'sequences')
    ? 'viral.sequencesComputed'
    : samples.every(({ unit }) => unit === 'chunks')
      ? 'viral.chunksComputed'
      : 'viral.restsOn';
  if (samples.length < 2) return null;
  return (
    <div>
      <Fold title={t('viral.bySample', { count: samples.length })} startsOpen>
        <Box
          mah={MOST_SAMPLES_PX}
          style={{ overflow: 'auto' }}
          tabIndex={0}
          role="group"
          aria-label={t('common.sample')}
        >
          <table className="figures">
            <thead>
              <tr>
                <th scope="col">{t('common.sample')}</th>
                <th scope="col">{t('viral.share')}</th>
                <th scope="col">{t(restsOn)}</th>
              </tr>
            </thead>
            <tbody>
              {samples.map((sample) => (
                <tr key={sample.sample}>
                  <th scope="row">
                    {sample.control ? t('samples.controlName', { name: sample.sample }) : sample.sample}
                  </th>
                  <td>
                    {texts.share(sample)} {sample.estimate && texts.interval(sample)}
                  </td>
                  <Box component="td" style={{ whiteSpace: 'normal' }}>
                    {restsOn === 'viral.restsOn'
                      ? texts.basis(sample)
                      : t('common.of', {
                          part: format.integer(sample.scored),
                          whole: format.integer(sample.total),
                        })}
                  </Box>
                </tr>
              ))}
            </tbody>
          </table>
        </Box>
      </Fold>
    </div>
  );
}

const MOST_HITS = 5;

/** The hits with the best evidence so far; each leads to its sequence in the results. */
function BestHits({ run }: { run: RunSummary }) {
  const { t, format } = useTexts();
  const { runId } = run;
  const page = useQuery({
    ...queries.results.page.queryOptions({
      input: {
        runId,
        filter: { predictions: ['virus'] },
        sort: { by: 'evidence', descending: true },
        limit: MOST_HITS,
      },
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
              <th scope="col">{t('results.column.seqName')}</th>
              <th scope="col">{t('results.column.length')}</th>
              <Box component="th" scope="col" ta="left">
                {t('results.column.ribbon')}
              </Box>
              <th scope="col">{t('results.column.virusScore')}</th>
              <th scope="col">{t('results.column.evidence')}</th>
            </tr>
          </thead>
          <tbody>
            {hits.map(({ row, seqName, length, ribbon, virusScore, evidence, settled }) => (
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
                <td>
                  {virusScore === null ? '–' : format.score(virusScore)}
                  {!settled && <span className="muted"> {t('results.settled.no')}</span>}
                </td>
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
