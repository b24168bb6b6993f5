import { useState } from 'react';
import { useMutation } from '@tanstack/react-query';
import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import type { OtherTable } from '../../../electron/contract/index.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { useTexts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';
import { forgetTables } from '../../state/results/otherTables.ts';

interface Props {
  runId: string;
  table: OtherTable;
  index: number;
  onClose: () => void;
}

/** No column has a name of no letters. */
const EVERY_LINE = '';

/** Asks which column of a table says what is a virus, and how. */
export function OtherCallDialog({ runId, table, index, onClose }: Props) {
  const { t } = useTexts();
  const { title, columns, named, rule } = table;
  const [column, setColumn] = useState<string | null>(named ? (named.column ?? EVERY_LINE) : null);
  const [virus, setVirus] = useState(named?.virus ?? '');
  const isEvery = column === EVERY_LINE;
  const save = useMutation({
    mutationFn: async () => {
      await engine.results.callOtherTable({
        ...{ runId, table: index },
        rule: isEvery ? { column: null, virus: 'all' } : { column, virus },
      });
      forgetTables();
      onClose();
    },
  });
  return (
    <Dialog opened onClose={onClose} title={t('others.sayTitle', { title })}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack gap={16}>
          {rule === 'unknown' && <Text fz="sm">{t('others.rule.unknown')}</Text>}
          <Select
            label={t('others.sayColumn')}
            data={[
              ...columns.map((name) => ({ value: name, label: name })),
              { value: EVERY_LINE, label: t('others.sayEvery') },
            ]}
            value={column}
            onChange={setColumn}
            allowDeselect={false}
          />
          {column !== null && !isEvery && (
            <TextInput
              label={t('others.sayVirus')}
              description={t('others.sayVirusText')}
              value={virus}
              onChange={(event) => setVirus(event.currentTarget.value)}
            />
          )}
          {save.error && <ErrorCard error={save.error} />}
          <Group justify="end">
            <Button variant="default" onClick={onClose}>
              {t('common.cancel')}
            </Button>
            <Button
              type="submit"
              loading={save.isPending}
              disabled={column === null || (!isEvery && virus.trim() === '')}
            >
              {t('others.saySave')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
