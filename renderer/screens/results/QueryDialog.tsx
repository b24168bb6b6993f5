import { useMutation } from '@tanstack/react-query';
import { Button, Group, Select, Stack, Table, Text, Textarea } from '@mantine/core';
import { Dialog } from '../../components/Dialog.tsx';
import { useState } from 'react';
import {
  QUERY_EXAMPLES,
  runFileStem,
  type QueryAnswer,
  type RunSummary,
} from '../../../electron/contract/index.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { useTexts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';
import { download } from '../../state/results/download.ts';
import { say } from '../../state/say.ts';
import { isElectron } from '../../state/settings.ts';

/** More rows than anybody reads; the saved file contains all of them. */
const SHOWN_ROWS = 500;

/** Runs an SQL query on the sequences, chunks and samples of a run. */
export function QueryDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const texts = useTexts();
  const { t } = texts;
  const { runId } = run;
  const [sql, setSql] = useState<string>(QUERY_EXAMPLES[0].sql);
  const ask = useMutation({ mutationFn: () => engine.results.query({ runId, sql, rows: SHOWN_ROWS }) });
  const save = useMutation({
    mutationFn: async () => {
      const suggestedName = `${runFileStem({ runName: run.name, model: run.plan.model, state: run.state })}_query.tsv`;
      const path = isElectron() ? (await engine.shell.chooseSaveFile({ suggestedName })).path : undefined;
      if (path === null) return;
      const saved = await engine.results.saveQuery({ runId, sql, ...(path === undefined ? {} : { path }) });
      if (saved.downloadPath !== null) await download(saved.downloadPath, texts);
      say(t(saved.isCut ? 'query.savedCut' : 'query.saved', { path: saved.path, rows: saved.rows }));
    },
  });
  const failure = ask.error ?? save.error;
  return (
    <Dialog opened onClose={onClose} title={t('query.title', { name: run.name })} size="xl">
      <Stack gap="md">
        <Text size="sm">{t('query.text')}</Text>
        <Select
          label={t('query.examples')}
          data={QUERY_EXAMPLES.map(({ key }) => ({ value: key, label: t(`query.example.${key}`) }))}
          placeholder={t('query.choose')}
          value={QUERY_EXAMPLES.find((example) => example.sql === sql)?.key ?? null}
          onChange={(value) => setSql(QUERY_EXAMPLES.find(({ key }) => key === value)?.sql ?? sql)}
        />
        <Textarea
          label={t('query.sql')}
          value={sql}
          onChange={(event) => setSql(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) ask.mutate();
          }}
          autosize
          minRows={4}
          maxRows={14}
          spellCheck={false}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        />
        <Group gap="sm">
          <Button loading={ask.isPending} disabled={sql.trim() === ''} onClick={() => ask.mutate()}>
            {t('query.ask')}
          </Button>
          <Button
            variant="default"
            loading={save.isPending}
            disabled={sql.trim() === ''}
            onClick={() => save.mutate()}
          >
            {t('query.save')}
          </Button>
        </Group>
        {failure && <ErrorCard error={failure} />}
        {ask.data && <Answer answer={ask.data} />}
      </Stack>
    </Dialog>
  );
}

function Answer({ answer: { columns, rows, isCut, milliseconds } }: { answer: QueryAnswer }) {
  const { t, format } = useTexts();
  return (
    <div>
      <Text size="xs" c="dimmed" mb={6} role="status">
        {t(isCut ? 'query.firstRows' : 'query.rows', {
          rows: rows.length,
          seconds: format.seconds(milliseconds / 1000),
        })}
      </Text>
      <Table.ScrollContainer minWidth={400} maxHeight={420}>
        <Table striped stickyHeader fz="sm">
          <Table.Thead>
            <Table.Tr>
              {columns.map(({ name }) => (
                <Table.Th key={name}>{name}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row, i) => (
              <Table.Tr key={i}>
                {row.map((cell, column) => (
                  <Table.Td key={columns[column]?.name}>{cell === null ? '–' : String(cell)}</Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </div>
  );
}
