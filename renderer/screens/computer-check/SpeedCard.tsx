import { Button, Group } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { isAtWork } from '../../../electron/contract/runState.ts';
import type { MeasuredSpeed, StepProgress } from '../../../electron/contract/index.ts';
import { Card } from '../../components/Card.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Waiting } from '../../components/feedback/Waiting.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useCopy } from '../../state/clipboard.ts';
import { engine, queries } from '../../state/connection.ts';
import { useEngineTexts } from '../../state/engineTexts.ts';
import { useRuns } from '../../state/runs/runs.ts';
import classes from './ComputerCheck.module.css';

/** How fast is each device? New run estimates from it before a run has been measured. */
export function SpeedCard() {
  const { t, format } = useTexts();
  const say = useEngineTexts();
  const client = useQueryClient();
  const speed = useQuery(queries.computer.speed.queryOptions());
  const [progress, setProgress] = useState<StepProgress | null>(null);
  const runIsAtWork = useRuns((state) => state.runs?.some(isAtWork) ?? false);
  const measure = useMutation({
    mutationFn: async () => {
      setProgress(null);
      for await (const step of await engine.computer.measureSpeed()) setProgress(step);
    },
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: queries.computer.speed.key() }),
        client.invalidateQueries({ queryKey: queries.runs.estimate.key() }),
      ]),
  });
  const copy = useCopy();
  const failure = measure.error ?? progress?.error ?? null;
  const measured = speed.data ?? null;
  return (
    <Card title={t('speed.title')} aside={t('speed.hint')}>
      {speed.error && <ErrorCard error={speed.error} />}
      {speed.isPending && <Waiting like="table" rows={2} />}
      {!speed.isPending && (
        <p className="muted">
          {measured
            ? t('speed.measuredAt', { time: format.dateTime(measured.measuredAt) })
            : t('speed.never')}
        </p>
      )}
      {measured && <Devices devices={measured.devices} />}
      <Group gap="sm">
        <Button
          size="compact-sm"
          variant={measured ? 'default' : 'filled'}
          loading={measure.isPending}
          disabled={runIsAtWork}
          onClick={() => measure.mutate()}
        >
          {t('speed.measure')}
        </Button>
        {measured && (
          <Button
            size="compact-sm"
            variant="default"
            loading={copy.isPending}
            onClick={() => copy.mutate(measured.figures)}
          >
            {t('speed.copy')}
          </Button>
        )}
      </Group>
      {runIsAtWork && !measure.isPending && <p className="muted">{t('speed.runIsAtWork')}</p>}
      {measure.isPending && progress && (
        <p role="status" className="muted">
          {progress.wording
            ? say({ text: progress.step, wording: progress.wording })
            : t('speed.measuring', {
                device: progress.step,
                number: progress.stepNumber,
                count: progress.stepCount,
              })}
        </p>
      )}
      {failure && <ErrorCard error={failure} />}
    </Card>
  );
}

function Devices({ devices }: Pick<MeasuredSpeed, 'devices'>) {
  const { t, format } = useTexts();
  return (
    <ul className={classes.models}>
      {devices.map(({ id, name, speed, problem }) => (
        <li key={id} className={classes.model}>
          <div>
            <b>
              {name}
              {speed && `, ${speed.precision.toUpperCase()}`}
            </b>
            <div className="muted">
              {speed
                ? t(id.startsWith('cpu:') ? 'speed.ofOneCore' : 'speed.ofDevice', {
                    residues: format.integer(Math.round(speed.residuesPerSecond)),
                    frames: format.integer(Math.round(speed.framesPerSecond)),
                    share: format.percent(speed.shareOfProducts, 0),
                  })
                : t('speed.notMeasured', { problem: problem ?? '' })}
            </div>
          </div>
        </li>
      ))}
    </ul>
  );
}
