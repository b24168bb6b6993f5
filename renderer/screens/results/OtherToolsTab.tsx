import { useState } from 'react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { ActionIcon, Button, Group, Skeleton, Text } from '@mantine/core';
import { IconTablePlus, IconTrash } from '@tabler/icons-react';
import {
  predictionSchema,
  type Agreement,
  type OtherTable,
  type Prediction,
  type RunSummary,
} from '../../../electron/contract/index.ts';
import { Empty } from '../../components/feedback/Empty.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Guarded } from '../../components/feedback/Guarded.tsx';
import { Figures } from '../../components/table/Figures.tsx';
import { useTexts } from '../../i18n/index.ts';
import { engine, queries } from '../../state/connection.ts';
import { chooseAndAddTables, forgetTables } from '../../state/results/otherTables.ts';
import { goToRun } from '../../state/navigation.ts';
import { whileGrowing } from '../../state/results/whileGrowing.ts';
import { changeFilter, changeView, useResultsView } from '../../state/results/resultsView.ts';
import { OtherCallDialog } from './OtherCallDialog.tsx';
import { PredictionLabel } from './callLabels.tsx';
import classes from './SamplesTab.module.css';

/** Shows where the tables of other tools agree with ours; a click shows only those sequences. */
export function OtherToolsTab({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const { runId } = run;
  const asked = queries.results.otherTables.queryOptions({ input: { runId } });
  const tables = useQuery({ ...asked, queryKey: [...asked.queryKey, run.state.phase], ...whileGrowing(run) });
  const tablesAdded = useResultsView((state) => state.runId === runId && state.tablesAdded);
  const add = useMutation({ mutationFn: () => chooseAndAddTables(runId) });
  if (tables.error) return <ErrorCard error={tables.error} />;
  if (!tables.data) return <Skeleton height={260} />;
  const asksFor = tablesAdded ? tables.data.findLast(({ rule }) => rule === 'unknown') : undefined;
  const addButton = (
    <Button
      variant="default"
      size="compact-sm"
      flex="none"
      loading={add.isPending}
      onClick={() => add.mutate()}
    >
      {t('others.add')}
    </Button>
  );
  if (tables.data.length === 0)
    return (
      <Empty
        icon={<IconTablePlus size={26} aria-hidden />}
        title={t('others.emptyTitle')}
        actions={addButton}
      >
        {t('others.emptyText')}
      </Empty>
    );
  return (
    <section aria-label={t('run.tab.tools')}>
      <Group justify="space-between" align="start" wrap="nowrap" mb={8}>
        <Text fz="sm" c="dimmed" maw="90ch">
          {t('others.note')}
        </Text>
        {addButton}
      </Group>
      {asksFor && !tables.isFetching && (
        <OtherCallDialog
          runId={runId}
          table={asksFor}
          index={tables.data.indexOf(asksFor)}
          onClose={() => changeView({ tablesAdded: false })}
        />
      )}
      <Guarded>
        {tables.data.map((table, index) => (
          <Agreements key={`${table.title} ${table.file}`} runId={runId} table={table} index={index} />
        ))}
      </Guarded>
    </section>
  );
}

function Agreements({ runId, table, index }: { runId: string; table: OtherTable; index: number }) {
  const { t, format } = useTexts();
  const remove = useMutation({
    mutationFn: async () => {
      await engine.results.removeOtherTable({ runId, table: index });
      forgetTables();
    },
  });
  const [isAsking, setAsking] = useState(false);
  const { title, file, rule, named, calls, lines, matched, unmatched, notUnderstood } = table;
  const missing = lines - matched;
  return (
    <section className={classes.other} aria-label={title}>
      <Group justify="space-between" wrap="nowrap">
        <Text component="h2" fz="md" fw={560} style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Text>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t('others.remove', { title })}
          loading={remove.isPending}
          onClick={() => remove.mutate()}
        >
          <IconTrash size={16} aria-hidden />
        </ActionIcon>
      </Group>
      <Text mt={8} fz="xs" c="dimmed">
        {t('others.read', { file, matched: format.integer(matched), lines: format.integer(lines) })}{' '}
        {rule === 'named'
          ? t('others.rule.named', { column: named?.column ?? '', virus: named?.virus ?? '' })
          : t(`others.rule.${rule}`)}
      </Text>
      {notUnderstood.words.length > 0 && (
        <Text mt={8} fz="xs" c="dimmed">
          {t('others.notUnderstood', {
            count: notUnderstood.lines,
            words: notUnderstood.words.slice(0, 5).join(', '),
          })}
        </Text>
      )}
      {(notUnderstood.lines > 0 || named !== null) && (
        <Button mt={8} variant="default" size="compact-sm" onClick={() => setAsking(true)}>
          {t('others.say')}
        </Button>
      )}
      {isAsking && (
        <OtherCallDialog runId={runId} table={table} index={index} onClose={() => setAsking(false)} />
      )}
      {missing > 0 && (
        <Text mt={8} fz="xs" c="dimmed">
          {t('others.unmatched', {
            count: missing,
            names: unmatched.slice(0, 3).join(', '),
          })}
        </Text>
      )}
      <Figures
        title={t('others.table', { title })}
        head={[
          ...[t('others.ours'), t('others.theirs', { title }), t('others.notVirusBy', { title })],
          ...[t('others.noCallBy', { title }), t('others.notInTable', { title })],
        ]}
        rows={predictionSchema.options.map((call) => {
          const { virus, notVirus, noCall, notInTable } = calls[call];
          const cell = (agreement: Agreement, count: number) => (
            <Cell key={agreement} {...{ runId, title, index, call, agreement, count }} />
          );
          return [
            <PredictionLabel key={call} prediction={call} />,
            cell(call === 'virus' ? 'both' : 'only_theirs', virus),
            call === 'virus' ? cell('only_ours', notVirus) : format.integer(notVirus),
            cell('no_call', noCall),
            cell('not_in_table', notInTable),
          ];
        })}
      />
    </section>
  );
}

interface CellProps {
  runId: string;
  title: string;
  index: number;
  call: Prediction;
  agreement: Agreement;
  count: number;
}

/** A count that shows its sequences when clicked. */
function Cell({ runId, title, index, call, agreement, count }: CellProps) {
  const { t, format } = useTexts();
  if (count === 0) return <>{format.integer(0)}</>;
  return (
    <button
      type="button"
      className="link"
      aria-label={t('others.show', {
        count,
        agreement: t(`others.agreement.${agreement}`, { title }),
        call: t(`prediction.${call}`),
      })}
      onClick={() => {
        changeFilter({ other: { table: index, agreement }, predictions: [call] });
        changeView({ otherTitle: title });
        goToRun(runId, 'results');
      }}
    >
      {format.integer(count)}
    </button>
  );
}
