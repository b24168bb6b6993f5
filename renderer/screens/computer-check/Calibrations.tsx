import { Button, Group, NativeSelect, Table } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { wilson, type Calibration } from '../../../electron/contract/index.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Fold } from '../../components/Fold.tsx';
import { PathText } from '../../components/files/PathText.tsx';
import { useTexts } from '../../i18n/index.ts';
import { modelTitle } from '../../state/computer/modelTexts.ts';
import { engine, queries } from '../../state/connection.ts';
import { goToRun } from '../../state/navigation.ts';
import { chooseFiles } from '../../state/pathChooser.ts';
import { sayError } from '../../state/say.ts';

const KINDS = ['viral', 'other'] as const;

/** Tests a model on the user's own sequences with known answers. */
export function Calibrations() {
  const texts = useTexts();
  const { t } = texts;
  const models = (useQuery(queries.computer.models.queryOptions()).data ?? []).filter(
    ({ present, problem }) => present && problem === null,
  );
  const [chosen, setChosen] = useState<string | null>(null);
  const [files, setFiles] = useState<Record<(typeof KINDS)[number], string | null>>({
    viral: null,
    other: null,
  });
  const model = models.find(({ id }) => id === chosen) ?? models[0];
  const found = useQuery({
    ...queries.computer.calibration.queryOptions({ input: { model: model?.id ?? '' } }),
    enabled: model !== undefined,
  });
  const start = useMutation({
    mutationFn: async () => {
      const { viral, other } = files;
      if (!model || viral === null || other === null) return;
      const { runId } = await engine.runs.create({
        inputs: [viral, other],
        model: model.id,
        name: t('calibration.runName'),
        calibrates: true,
        strict: true,
      });
      goToRun(runId);
    },
  });
  const error = found.error ?? start.error;
  if (!model) return null;
  return (
    <section aria-label={t('calibration.title')}>
      <Fold title={t('calibration.title')}>
        <p className="muted">{t('calibration.text')}</p>
        <Group gap="sm" my={10} align="end">
          <NativeSelect
            label={t('newRun.model')}
            value={model.id}
            onChange={(event) => setChosen(event.currentTarget.value)}
            data={models.map((one) => ({ value: one.id, label: modelTitle(one, texts) }))}
          />
          {KINDS.map((kind) => (
            <Button
              key={kind}
              variant="default"
              onClick={() => {
                chooseFiles('sequences').then(
                  ([path]) => path !== undefined && setFiles((before) => ({ ...before, [kind]: path })),
                  sayError,
                );
              }}
            >
              {t(`calibration.choose.${kind}`)}
            </Button>
          ))}
          <Button
            disabled={files.viral === null || files.other === null}
            loading={start.isPending}
            onClick={() => start.mutate()}
          >
            {t('calibration.start')}
          </Button>
        </Group>
        {KINDS.map((kind) => {
          const path = files[kind];
          return (
            path !== null && (
              <p key={kind}>
                {t(`calibration.file.${kind}`)} <PathText path={path} />
              </p>
            )
          );
        })}
        {error && <ErrorCard error={error} />}
        {found.data && <CalibrationTable calibration={found.data} />}
      </Fold>
    </section>
  );
}

function CalibrationTable({ calibration }: { calibration: Calibration }) {
  const { t, format } = useTexts();
  const { calibratedAt, viralFile, otherFile, classes } = calibration;
  const share = (part: number, whole: number) => {
    if (whole === 0) return '–';
    const { low, high } = wilson(part / whole, whole);
    const percent = (one: number) => format.percent(one, 0);
    return t('controls.interval', { share: percent(part / whole), low: percent(low), high: percent(high) });
  };
  return (
    <>
      <p>
        {t('calibration.made', { time: format.dateTime(calibratedAt), viral: viralFile, other: otherFile })}
      </p>
      <Table withRowBorders={false} verticalSpacing={2}>
        <Table.Thead>
          <Table.Tr>
            {(['length', 'threshold', 'found', 'false', 'precision'] as const).map((column) => (
              <Table.Th key={column} scope="col">
                {t(`calibration.column.${column}`)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {classes
            .filter(({ viral, other }) => viral.sequences + other.sequences > 0)
            .flatMap(({ from, viral, other, thresholds }) =>
              thresholds.map(({ threshold, viralAbove, otherAbove }, place) => (
                <Table.Tr key={`${from} ${threshold}`}>
                  {place === 0 && (
                    <Table.Th
                      scope="rowgroup"
                      rowSpan={thresholds.length}
                      fw={400}
                      style={{ verticalAlign: 'top' }}
                    >
                      {t('calibration.from', { length: format.bases(from) })}
                    </Table.Th>
                  )}
                  <Table.Td>{format.decimal(threshold, 2)}</Table.Td>
                  <Table.Td>{share(viralAbove, viral.sequences)}</Table.Td>
                  <Table.Td>{share(otherAbove, other.sequences)}</Table.Td>
                  <Table.Td>{share(viralAbove, viralAbove + otherAbove)}</Table.Td>
                </Table.Tr>
              )),
            )}
        </Table.Tbody>
      </Table>
      <p className="muted">{t('calibration.precisionText')}</p>
    </>
  );
}
