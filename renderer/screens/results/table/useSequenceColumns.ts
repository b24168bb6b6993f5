import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { columnsOf, matesOf, type RunSummary } from '../../../../electron/contract/index.ts';
import { fileName } from '../../../i18n/names.ts';
import { useTexts } from '../../../i18n/index.ts';
import { queries } from '../../../state/connection.ts';
import { useResultsView } from '../../../state/results/resultsView.ts';
import { useSamplesFound } from '../../../state/results/samplesFound.ts';
import { useShortlist } from '../../../state/results/shortlist.ts';
import { exportedColumns } from '../../../state/results/shownColumns.ts';
import { sequenceColumns, type OnTick } from './sequenceColumns.tsx';

/** The columns of exports that say what is in sight. */
export function useShownColumns(run: RunSummary): string[] {
  const hidden = useResultsView((state) => state.hiddenColumns);
  return exportedColumns(useSequenceColumns(run).filter(({ id }) => hidden[id] !== false));
}

const NO_TICKS: OnTick = () => undefined;

/** All columns for the sequences of a run, including hidden ones. */
export function useSequenceColumns(run: RunSummary, onTick = NO_TICKS) {
  const texts = useTexts();
  const { runId } = run;
  const { inputs, chunkLength, trusted, secondLook } = run.plan;
  const isDone = run.state.phase === 'done';
  const others = useQuery(queries.results.otherTables.queryOptions({ input: { runId } })).data;
  const shortlisted = useShortlist(runId);
  const found = useSamplesFound(run).data;
  const { t } = texts;
  const samples = useMemo(() => {
    const controls = new Set(found?.items.flatMap((one) => (one.control ? one.inputs : [])));
    return found?.names.map((name, input) =>
      controls.has(input) ? t('samples.controlName', { name }) : name,
    );
  }, [found, t]);
  return useMemo(
    () =>
      sequenceColumns(texts, {
        onTick,
        inputName: (input) => fileName(inputs[input]?.path ?? ''),
        samples: samples && new Set(samples).size > 1 ? samples : null,
        chunkLength,
        others: (others ?? []).map(({ title }) => title),
        shortlisted,
        keys: columnsOf('window', {
          isPaired: matesOf(inputs.map(({ path }) => path)).some((mate) => mate !== null),
          isCalibrated: trusted !== undefined,
          looksTwice: secondLook !== undefined,
        }).filter((key) => !isDone || key !== 'settled'),
      }),
    [texts, onTick, isDone, inputs, samples, chunkLength, others, shortlisted, trusted, secondLook],
  );
}
