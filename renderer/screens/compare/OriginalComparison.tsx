import { useQuery } from '@tanstack/react-query';
import { Button, Loader, Text } from '@mantine/core';
import type { OriginalComparison as Found, RunSummary } from '../../../electron/contract/index.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Figures } from '../../components/table/Figures.tsx';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { go } from '../../state/navigation.ts';
import { showSequence } from '../../state/results/resultsView.ts';
import { PredictionLabel } from '../results/callLabels.tsx';
import { CallsTable } from './CallsTable.tsx';

/** Compares a run with a result file of the original VirNucPro, chunk by chunk. */
export function OriginalComparison({ run, file }: { run: RunSummary; file: string }) {
  const { t } = useTexts();
  const { runId } = run;
  const asked = useQuery(queries.results.compareOriginal.queryOptions({ input: { runId, path: file } }));
  if (asked.error) return <ErrorCard error={asked.error} />;
  if (!asked.data) return <Loader size="sm" role="status" aria-label={t('common.loading')} />;
  return <Agreement found={asked.data} runId={runId} />;
}

function Agreement({ found, runId }: { found: Found; runId: string }) {
  const { t, format } = useTexts();
  const { file, inBoth, sameCall, calls, onlyInRun, onlyInFile, ambiguous, scores, differing } = found;
  const score = (value: number | null) => (value === null ? '–' : format.decimal(value, 6));
  const more = inBoth - sameCall - differing.length;
  const scoreHeads = [t('compare.file.otherScore'), t('compare.file.virusScore')];
  return (
    <>
      <Text fz="sm" c="dimmed" role="status">
        {inBoth === 0
          ? t('compare.file.nothing', { file })
          : t('compare.file.summary', {
              file,
              both: format.integer(inBoth),
              same: format.integer(sameCall),
              share: format.percent(sameCall / inBoth, 2),
              run: format.integer(onlyInRun),
              inFile: format.integer(onlyInFile),
            })}
      </Text>
      {ambiguous > 0 && (
        <Text fz="sm" c="dimmed">
          {t('compare.file.ambiguous', { count: ambiguous })}
        </Text>
      )}
      {onlyInRun + onlyInFile > 0 && (
        <div>
          <Text fz="sm" c="dimmed">
            {t('compare.file.missing', { length: format.integer(found.chunkLength) })}
          </Text>
          <Button variant="subtle" size="compact-sm" onClick={() => go({ screen: 'new-run' })}>
            {t('compare.file.newRun')}
          </Button>
        </div>
      )}
      {inBoth > 0 && (
        <CallsTable
          title={t('compare.file.calls')}
          first={t('compare.file.run')}
          second={t('compare.file.file')}
          calls={['virus', 'others']}
          counts={calls}
        />
      )}
      {scores && (
        <Text fz="sm" c="dimmed">
          {t('compare.file.scores', {
            count: format.integer(scores.compared),
            correlation: scores.correlation === null ? '–' : format.decimal(scores.correlation, 6),
            mean: format.decimal(scores.meanAbsoluteDifference, 8),
            largest: format.decimal(scores.largestDifference, 8),
          })}
        </Text>
      )}
      {differing.length > 0 && (
        <section>
          <Text fz="sm" c="dimmed">
            {t('compare.file.differingText')}
          </Text>
          <Figures
            title={`${t('compare.file.differing')} (${format.integer(inBoth - sameCall)})`}
            height={320}
            head={[
              ...[t('column.seqName'), t('compare.file.chunk')],
              ...[t('compare.file.run'), ...scoreHeads, t('compare.file.file'), ...scoreHeads],
            ]}
            rows={differing.map(({ row, seqName, chunk, start, end, ...sides }) => [
              <button key="name" type="button" className="link" onClick={() => showSequence(runId, row)}>
                {seqName}
              </button>,
              <span key="chunk" title={`${format.integer(start)}–${format.integer(end)}`}>
                {format.integer(chunk)}
              </span>,
              ...[sides.run, sides.file].flatMap(({ call, score1, score2 }, side) => [
                <PredictionLabel key={side} prediction={call} />,
                score(score1),
                score(score2),
              ]),
            ])}
          />
          {more > 0 && (
            <Text fz="sm" c="dimmed">
              {t('compare.more', { count: more })}
            </Text>
          )}
        </section>
      )}
    </>
  );
}
