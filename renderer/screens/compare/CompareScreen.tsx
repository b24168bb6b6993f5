import { useQuery } from '@tanstack/react-query';
import { Button, Group, Loader, Select, Text } from '@mantine/core';
import { useEffect } from 'react';
import { predictionSchema, type RunComparison, type RunSummary } from '../../../electron/contract/index.ts';
import { Banner } from '../../components/feedback/Banner.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Waiting } from '../../components/feedback/Waiting.tsx';
import { Page } from '../../components/Page.tsx';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { modelNotice, modelTitle } from '../../state/computer/modelTexts.ts';
import { go } from '../../state/navigation.ts';
import { chooseOriginalFile } from '../../state/results/otherTables.ts';
import { changeView, useResultsView, viewRun } from '../../state/results/resultsView.ts';
import { useRuns } from '../../state/runs/runs.ts';
import { AgreementTable } from './AgreementTable.tsx';
import { CallsTable } from './CallsTable.tsx';
import { ComparedSequences } from './ComparedSequences.tsx';
import { OriginalComparison } from './OriginalComparison.tsx';

/** Compares two runs of the same sequences, for example with another model or precision, or a run with the original VirNucPro. */
export function CompareScreen({ runId, otherRunId }: { runId: string; otherRunId: string | null }) {
  const texts = useTexts();
  const { t } = texts;
  useEffect(() => viewRun(runId), [runId]);
  const file = useResultsView((state) => (state.runId === runId ? state.originalFile : null));
  const runs = useRuns((state) => state.runs);
  if (!runs) {
    return (
      <Page title={t('compare.title')}>
        <Waiting rows={5} />
      </Page>
    );
  }
  const compared = [runId, otherRunId].map((id) => runs.find((run) => run.runId === id));
  const [first, second] = compared;
  const notices = compared.flatMap((run) => (run ? (modelNotice(run.plan.model, texts) ?? []) : []));
  const compareWith = (change: { runId?: string; otherRunId?: string | null }) => {
    changeView({ originalFile: null });
    go({ screen: 'compare', runId, otherRunId, ...change });
  };
  return (
    <Page title={t('compare.title')}>
      <Group align="end" gap={16}>
        <RunChoice
          label={t('compare.first')}
          runs={runs.filter((run) => run.runId !== otherRunId)}
          value={runId}
          onChange={(chosen) => compareWith({ runId: chosen })}
        />
        <RunChoice
          label={t('compare.other')}
          runs={runs.filter((run) => run.runId !== runId)}
          value={file === null ? otherRunId : null}
          onChange={(chosen) => compareWith({ otherRunId: chosen })}
        />
        <Button variant="default" title={t('compare.originalText')} onClick={() => void chooseOriginalFile()}>
          {t('compare.original')}
        </Button>
      </Group>
      {notices.length > 0 && (
        <Banner tone="warn" title={t('run.notForResearch')}>
          {[...new Set(notices)].join(' ')}
        </Banner>
      )}
      {first && file !== null && <OriginalComparison run={first} file={file} />}
      {first && second && file === null && <TwoRuns runs={[first, second]} />}
      {(!first || (!second && file === null)) && <Text c="dimmed">{t('compare.otherText')}</Text>}
    </Page>
  );
}

interface RunChoiceProps {
  label: string;
  runs: readonly RunSummary[];
  value: string | null;
  onChange: (runId: string) => void;
}

function RunChoice({ label, runs, value, onChange }: RunChoiceProps) {
  const texts = useTexts();
  const choices = runs.filter(({ state, missing }) => state.phase !== 'created' && !missing);
  return (
    <Select
      flex="1 1 300px"
      label={label}
      data={choices.map(({ runId, name, createdAt, plan }) => ({
        value: runId,
        label: `${name} (${modelTitle(plan.model, texts)}, ${texts.format.dateTime(createdAt)})`,
      }))}
      value={value}
      onChange={(chosen) => chosen !== null && onChange(chosen)}
      searchable
      allowDeselect={false}
      nothingFoundMessage={texts.t('compare.none')}
    />
  );
}

function TwoRuns({ runs }: { runs: [RunSummary, RunSummary] }) {
  const { t } = useTexts();
  const [{ runId }, { runId: otherRunId }] = runs;
  const asked = useQuery(queries.results.compare.queryOptions({ input: { runId, otherRunId } }));
  if (asked.error) return <ErrorCard error={asked.error} />;
  if (!asked.data) return <Loader size="sm" role="status" aria-label={t('common.loading')} />;
  return <Comparison found={asked.data} runs={runs} />;
}

function Comparison({ found, runs }: { found: RunComparison; runs: [RunSummary, RunSummary] }) {
  const { t, format } = useTexts();
  const { inBoth, sameCall, scores, shortlisted } = found;
  if (inBoth === 0) return <Text c="dimmed">{t('compare.nothing')}</Text>;
  return (
    <>
      <p style={{ margin: 0 }}>
        {t('compare.summary', {
          both: format.integer(inBoth),
          same: format.integer(sameCall),
          share: format.percent(sameCall / inBoth, 1),
          first: format.integer(found.onlyInFirst),
          second: format.integer(found.onlyInSecond),
        })}
      </p>
      {found.changedInputs.length > 0 && (
        <Text fz="sm">{t('compare.changedInputs', { files: found.changedInputs.join(', ') })}</Text>
      )}
      {found.otherInputs.first.length > 0 && (
        <Text fz="sm">
          {t('compare.otherInputs', {
            first: found.otherInputs.first.join(', '),
            second: found.otherInputs.second.join(', '),
          })}
        </Text>
      )}
      {found.matchedByOrder > 0 && (
        <Banner tone="warn" title={t('compare.matchedByOrder', { count: found.matchedByOrder })} />
      )}
      {scores && (
        <Text fz="sm">
          {t('compare.scoresText', {
            count: format.integer(scores.compared),
            correlation: scores.correlation === null ? '–' : format.decimal(scores.correlation, 3),
            mean: format.score(scores.meanAbsoluteDifference),
            largest: format.score(scores.largestDifference),
          })}
        </Text>
      )}
      <CallsTable
        title={t('common.calls')}
        first={runs[0].name}
        second={runs[1].name}
        calls={predictionSchema.options}
        counts={found.calls}
      />
      <AgreementTable agreement={found.agreement} />
      {shortlisted > 0 && (
        <ComparedSequences title={t('compare.shortlisted')} list="shortlisted" runs={runs} />
      )}
      {sameCall < inBoth && <ComparedSequences title={t('compare.changed')} list="changed" runs={runs} />}
    </>
  );
}
