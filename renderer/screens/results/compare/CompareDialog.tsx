import { useQuery } from '@tanstack/react-query';
import { Box, Button, Loader, Modal, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import {
  predictionSchema,
  type RunComparison,
  type RunSummary,
} from '../../../../electron/contract/index.ts';
import { ErrorCard } from '../../../components/feedback/ErrorCard.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { queries } from '../../../state/connection.ts';
import { modelTitle } from '../../../state/computer/modelTexts.ts';
import { chooseOriginalFile } from '../../../state/results/otherTables.ts';
import { changeView, useResultsView } from '../../../state/results/resultsView.ts';
import { useRuns } from '../../../state/runs/runs.ts';
import { TwoScoresChart } from '../distributions/SquaresChart.tsx';
import { OriginalComparison } from './OriginalComparison.tsx';
import { PredictionLabel } from '../callLabels.tsx';

/** Where two runs of the same sequences agree, such as with another model or precision; or a run and the original VirNucPro. */
export function CompareDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const texts = useTexts();
  const { t, format } = texts;
  const file = useResultsView((state) => state.comparing?.file ?? null);
  const [other, setOther] = useState<string | null>(null);
  const runs = useRuns((state) => state.runs) ?? [];
  const choices = runs.filter(({ runId, state }) => runId !== run.runId && state.phase !== 'created');
  const chosen = choices.find(({ runId }) => runId === other);
  const comparison = useQuery({
    ...queries.results.compare.queryOptions({ input: { runId: run.runId, otherRunId: other ?? run.runId } }),
    enabled: other !== null && file === null,
  });
  return (
    <Modal opened onClose={onClose} title={t('compare.title', { name: run.name })} size="xl">
      <Stack gap="lg">
        <Select
          label={t('compare.other')}
          description={choices.length === 0 ? t('compare.none') : t('compare.otherText')}
          data={choices.map(({ runId, name, createdAt, plan }) => ({
            value: runId,
            label: `${name} (${modelTitle(plan.model, texts)}, ${format.dateTime(createdAt)})`,
          }))}
          value={file === null ? other : null}
          onChange={(value) => {
            setOther(value);
            changeView({ comparing: { file: null } });
          }}
          searchable
          disabled={choices.length === 0}
        />
        <div>
          <Button variant="default" size="compact-sm" onClick={() => void chooseOriginalFile()}>
            {t('compare.original')}
          </Button>
          <Text fz="sm" c="dimmed">
            {t('compare.originalText')}
          </Text>
        </div>
        {file !== null && <OriginalComparison run={run} file={file} onClose={onClose} />}
        {comparison.error && <ErrorCard error={comparison.error} />}
        {comparison.isFetching && <Loader size="sm" aria-label={t('common.loading')} />}
        {file === null && comparison.data && chosen && !comparison.isFetching && (
          <Comparison found={comparison.data} names={[run.name, chosen.name]} onClose={onClose} />
        )}
      </Stack>
    </Modal>
  );
}

interface ComparisonProps {
  found: RunComparison;
  names: [string, string];
  onClose: () => void;
}

function Comparison({ found, names, onClose }: ComparisonProps) {
  const { t, format } = useTexts();
  const { inBoth, sameCall, scores, calls, changed } = found;
  if (inBoth === 0)
    return (
      <Text fz="sm" c="dimmed">
        {t('compare.nothing')}
      </Text>
    );
  const score = (value: number | null) => (value === null ? '–' : format.score(value));
  const changes = inBoth - sameCall;
  return (
    <>
      <Text fz="sm" c="dimmed">
        {t('compare.summary', {
          both: format.integer(inBoth),
          same: format.integer(sameCall),
          share: format.percent(sameCall / inBoth, 1),
          first: format.integer(found.onlyInFirst),
          second: format.integer(found.onlyInSecond),
        })}
      </Text>
      <Box mah={320} style={{ overflow: 'auto' }} tabIndex={0} role="group" aria-label={t('compare.calls')}>
        <table className="figures">
          <caption>{t('compare.calls')}</caption>
          <thead>
            <tr>
              <th scope="col">{t('compare.rowsColumns', { first: names[0], second: names[1] })}</th>
              {predictionSchema.options.map((call) => (
                <th key={call} scope="col">
                  {t(`prediction.${call}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {predictionSchema.options.map((call) => (
              <tr key={call}>
                <th scope="row">{t(`prediction.${call}`)}</th>
                {predictionSchema.options.map((second) => (
                  <td key={second} data-marked={call === second}>
                    {format.integer(calls[call][second])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Box>
      {scores && (
        <section>
          <Text component="h3" mb={8} fz="md" fw={600}>
            {t('compare.scores')}
          </Text>
          <TwoScoresChart counts={found.scoreGrid} names={names} />
          <Text fz="sm" c="dimmed">
            {t('compare.scoresText', {
              count: format.integer(scores.compared),
              correlation: scores.correlation === null ? '–' : format.decimal(scores.correlation, 3),
              mean: format.score(scores.meanAbsoluteDifference),
              largest: format.score(scores.largestDifference),
            })}
          </Text>
        </section>
      )}
      {changes > 0 && (
        <Box
          mah={320}
          style={{ overflow: 'auto' }}
          tabIndex={0}
          role="group"
          aria-label={t('compare.changed')}
        >
          <table className="figures">
            <caption>
              {t('compare.changed')} ({format.integer(changes)})
            </caption>
            <thead>
              <tr>
                <th scope="col">{t('results.column.seqName')}</th>
                <th scope="col">{t('results.column.length')}</th>
                {names.map((name, index) => (
                  <th key={index} scope="col" colSpan={2}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {changed.map(({ seqName, length, first, second }) => (
                <tr key={first.row}>
                  <th scope="row">
                    <button
                      type="button"
                      className="link"
                      onClick={() => {
                        changeView({ openRow: first.row, openIndex: null });
                        onClose();
                      }}
                    >
                      {seqName}
                    </button>
                  </th>
                  <td>{format.integer(length)}</td>
                  {[first, second].map((one, index) => [
                    <td key={`call ${index}`}>
                      <PredictionLabel prediction={one.prediction} />
                    </td>,
                    <td key={`score ${index}`}>{score(one.virusScore)}</td>,
                  ])}
                </tr>
              ))}
            </tbody>
          </table>
          {changes > changed.length && (
            <Text fz="sm" c="dimmed">
              {t('compare.more', { count: changes - changed.length })}
            </Text>
          )}
        </Box>
      )}
    </>
  );
}
