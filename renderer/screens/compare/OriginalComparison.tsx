import { useQuery } from '@tanstack/react-query';
import { Box, Button, Loader, Text } from '@mantine/core';
import { Fragment } from 'react';
import type { OriginalComparison as Found, RunSummary } from '../../../electron/contract/index.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { go } from '../../state/navigation.ts';
import { showSequence } from '../../state/results/resultsView.ts';
import { PredictionLabel } from '../results/callLabels.tsx';
import { CallsTable } from './CallsTable.tsx';

const CALLS = ['virus', 'others'] as const;

/** Compares a run with a result file of the original VirNucPro, chunk by chunk. */
export function OriginalComparison({ run, file }: { run: RunSummary; file: string }) {
  const { t } = useTexts();
  const { runId } = run;
  const asked = useQuery(queries.results.compareOriginal.queryOptions({ input: { runId, path: file } }));
  if (asked.error) return <ErrorCard error={asked.error} />;
  if (!asked.data) return <Loader size="sm" aria-label={t('common.loading')} />;
  return <Agreement found={asked.data} runId={runId} />;
}

function Agreement({ found, runId }: { found: Found; runId: string }) {
  const { t, format } = useTexts();
  const { file, inBoth, sameCall, calls, onlyInRun, onlyInFile, ambiguous, frames, scores } = found;
  const names = (examples: readonly string[], count: number) =>
    `${examples.join(', ')}${count > examples.length ? ' …' : ''}`;
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
              run: format.integer(onlyInRun.count),
              inFile: format.integer(onlyInFile.count),
            })}
      </Text>
      {ambiguous > 0 && (
        <Text fz="sm" c="dimmed">
          {t('compare.file.ambiguous', { count: ambiguous })}
        </Text>
      )}
      {onlyInRun.count + onlyInFile.count > 0 && (
        <div>
          {onlyInRun.count > 0 && (
            <Text fz="sm" c="dimmed">
              {t('compare.file.onlyInRun', { names: names(onlyInRun.examples, onlyInRun.count) })}
            </Text>
          )}
          {onlyInFile.count > 0 && (
            <Text fz="sm" c="dimmed">
              {t('compare.file.onlyInFile', { names: names(onlyInFile.examples, onlyInFile.count) })}
            </Text>
          )}
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
          calls={CALLS}
          counts={calls}
        />
      )}
      {frames && inBoth > 0 && (
        <Text fz="sm" c="dimmed">
          {t('compare.file.frames', {
            both: format.integer(frames.inBoth),
            same: format.integer(frames.sameCall),
            run: format.integer(frames.onlyInRun),
            inFile: format.integer(frames.onlyInFile),
          })}
        </Text>
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
      {sameCall < inBoth && <Differing found={found} runId={runId} />}
    </>
  );
}

function Differing({ found, runId }: { found: Found; runId: string }) {
  const { t, format } = useTexts();
  const { differing, inBoth, sameCall } = found;
  const score = (value: number | null) => (value === null ? '–' : format.decimal(value, 6));
  const more = inBoth - sameCall - differing.length;
  return (
    <Box
      mah={320}
      style={{ overflow: 'auto' }}
      tabIndex={0}
      role="group"
      aria-label={t('compare.file.differing')}
    >
      <Text fz="sm" c="dimmed">
        {t('compare.file.differingText')}
      </Text>
      <table className="figures">
        <caption>
          {t('compare.file.differing')} ({format.integer(inBoth - sameCall)})
        </caption>
        <thead>
          <tr>
            <th scope="col">{t('column.seqName')}</th>
            <th scope="col">{t('compare.file.chunk')}</th>
            {(['run', 'file'] as const).map((place) => (
              <Fragment key={place}>
                <th scope="col">{t(`compare.file.${place}`)}</th>
                <th scope="col">{t('compare.file.otherScore')}</th>
                <th scope="col">{t('compare.file.virusScore')}</th>
              </Fragment>
            ))}
          </tr>
        </thead>
        <tbody>
          {differing.map(({ row, seqName, chunk, start, end, run, file }) => (
            <tr key={`${row} ${chunk}`}>
              <th scope="row">
                <button type="button" className="link" onClick={() => showSequence(runId, row)}>
                  {seqName}
                </button>
              </th>
              <td title={`${format.integer(start)}–${format.integer(end)}`}>{format.integer(chunk)}</td>
              {[run, file].map((one, index) => (
                <Fragment key={index}>
                  <td>
                    <PredictionLabel prediction={one.call} />
                  </td>
                  <td>{score(one.score1)}</td>
                  <td>{score(one.score2)}</td>
                </Fragment>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && (
        <Text fz="sm" c="dimmed">
          {t('compare.more', { count: more })}
        </Text>
      )}
    </Box>
  );
}
