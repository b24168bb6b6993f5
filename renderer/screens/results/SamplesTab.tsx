import { useMutation } from '@tanstack/react-query';
import { Box, Button, Group, Skeleton, Text } from '@mantine/core';
import { useState } from 'react';
import {
  estimateText,
  NO_DETAILS,
  sharePercent,
  viralShare,
  type NamedSample,
  type RunSummary,
  type SampleSummary,
} from '../../../electron/contract/index.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { SamplesDialog } from '../../components/files/SamplesDialog.tsx';
import { useTexts } from '../../i18n/index.ts';
import { engine, queries } from '../../state/connection.ts';
import { askAgain } from '../../state/queryClient.ts';
import { goToRun } from '../../state/navigation.ts';
import { useExpectedShares, useSamplesFound } from '../../state/results/samplesFound.ts';
import { changeFilter, useResultsView } from '../../state/results/resultsView.ts';
import { SAMPLE_CALLS } from './distributions/distributionPlots.tsx';
import classes from './SamplesTab.module.css';

/** The results of each sample, as table and bars; a click shows only the sequences of that sample. */
export function SamplesTab({ run }: { run: RunSummary }) {
  const { t, format } = useTexts();
  const chosen = useResultsView((state) => state.filter.inputs);
  const [editing, setEditing] = useState(false);
  const { runId } = run;
  const samples = useSamplesFound(run);
  const expected = useExpectedShares(run);
  const save = useMutation({
    mutationFn: async (wanted: readonly NamedSample[] | null) => {
      await engine.results.setSamples({
        runId,
        names: wanted?.map(({ sample }) => sample) ?? [],
        ...(wanted && { details: wanted.map(({ group, note, control }) => ({ group, note, control })) }),
      });
      changeFilter({ inputs: null });
      askAgain(queries.results.samples.key());
      setEditing(false);
    },
  });
  if (samples.error) return <ErrorCard error={samples.error} />;
  if (!samples.data) return <Skeleton height={260} />;
  const { items, names } = samples.data;
  const hasGroups = items.some(({ group }) => group !== null);
  const hasControls = items.some(({ control }) => control);
  const show = (item: SampleSummary) => {
    changeFilter({ inputs: item.inputs });
    goToRun(runId, 'results');
  };
  const isExpected = expected?.isSample === true;
  const shareText = ({ sample, byPrediction }: SampleSummary) => {
    if (!isExpected) return sharePercent(viralShare(byPrediction), format.percent);
    const estimate = expected.samples.find((one) => one.sample === sample)?.estimate;
    return estimate ? estimateText(estimate, format.percent) : '–';
  };
  return (
    <section aria-label={t('run.tab.samples')}>
      <Group justify="space-between" mb={8}>
        <Text fz="sm" c="dimmed">
          {t(isExpected ? 'viral.hint' : 'samples.shareText')}
          {hasControls && ` ${t('samples.controlText')}`}
        </Text>
        <Button variant="default" size="compact-sm" onClick={() => setEditing(true)}>
          {t('samples.edit')}
        </Button>
      </Group>
      <Box style={{ overflowX: 'auto' }} tabIndex={0} role="group" aria-label={t('run.tab.samples')}>
        <table className="figures">
          <thead>
            <tr>
              <th scope="col">{t('common.sample')}</th>
              {hasGroups && <th scope="col">{t('samples.group')}</th>}
              {hasControls && <th scope="col">{t('samples.control')}</th>}
              <Box component="th" scope="col" w="30%" miw={120} ta="left">
                {t('samples.composition')}
              </Box>
              <th scope="col">{t('common.sequences')}</th>
              {SAMPLE_CALLS.map(({ call }) => (
                <th key={call} scope="col">
                  {t(`prediction.${call}`)}
                </th>
              ))}
              <th scope="col">{t('common.bases')}</th>
              <th scope="col">{t(isExpected ? 'viral.share' : 'samples.share')}</th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <tr key={item.sample} data-marked={chosen?.join() === item.inputs.join()}>
                <th scope="row">
                  <button type="button" className="link" onClick={() => show(item)}>
                    {item.sample}
                  </button>
                  {item.note !== null && (
                    <Text fz="xs" c="dimmed">
                      {item.note}
                    </Text>
                  )}
                </th>
                {hasGroups && <td>{item.group ?? ''}</td>}
                {hasControls && <td>{item.control ? t('samples.isControl') : ''}</td>}
                <td aria-hidden>
                  <span className={classes.bar}>
                    {SAMPLE_CALLS.filter(({ call }) => item.byPrediction[call] > 0).map(({ call, color }) => (
                      <span key={call} style={{ background: color, flexGrow: item.byPrediction[call] }} />
                    ))}
                  </span>
                </td>
                <td>{format.integer(item.sequences)}</td>
                {SAMPLE_CALLS.map(({ call }) => (
                  <td key={call}>{format.integer(item.byPrediction[call])}</td>
                ))}
                <td>{format.bases(item.bases)}</td>
                <td>{shareText(item)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Box>
      {editing && (
        <SamplesDialog
          paths={run.plan.inputs.map(({ path }) => path)}
          samples={names.map((sample) => {
            const { group, note, control } = items.find((item) => item.sample === sample) ?? NO_DETAILS;
            return { sample, group, note, control };
          })}
          saving={save.isPending}
          onSave={save.mutate}
          onClose={() => setEditing(false)}
        />
      )}
    </section>
  );
}
