import { Button, Group } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { isAtWork } from '../../../electron/contract/runState.ts';
import type {
  Answers,
  MeasuredSpeed,
  ModelAnswers,
  SelfTestLevel,
  StepProgress,
} from '../../../electron/contract/index.ts';
import { Card } from '../../components/Card.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Badge } from '../../components/feedback/StateBadge.tsx';
import { Waiting } from '../../components/feedback/Waiting.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useCopy } from '../../state/clipboard.ts';
import { modelTitle } from '../../state/computer/modelTexts.ts';
import { engine, queries } from '../../state/connection.ts';
import { useEngineTexts } from '../../state/engineTexts.ts';
import { useRuns } from '../../state/runs/runs.ts';
import classes from './ComputerCheck.module.css';

/** Does this installation compute what it should, and how fast? Each model computes frames with known answers; no model is needed
 * to measure the speed. */
export function SelfTestCard() {
  const { t } = useTexts();
  const last = useQuery(queries.computer.selfTests.queryOptions());
  return (
    <Card title={t('selfTest.title')} aside={t('selfTest.hint')}>
      {last.error && <ErrorCard error={last.error} />}
      {last.isPending && <Waiting like="table" rows={3} />}
      {last.data?.models.map((model) => (
        <ModelTest key={model.model} {...model} />
      ))}
      {last.data && <SpeedTest measured={last.data.speed} />}
    </Card>
  );
}

function ModelTest({ model, title: ownTitle, last }: ModelAnswers) {
  const texts = useTexts();
  const { t, format } = texts;
  const known = useQuery(queries.computer.models.queryOptions()).data?.find(({ id }) => id === model);
  const title = known ? modelTitle(known, texts) : ownTitle;
  const when =
    last === null
      ? t('answers.never')
      : last.outdated
        ? t(`answers.outdated.${last.outdated}`)
        : t('answers.checkedAt', { time: format.dateTime(last.answers.checkedAt) });
  return (
    <Level
      level={{ level: 'model', model }}
      title={title}
      when={when}
      isDue={last === null || last.outdated !== null}
      start={t('answers.check')}
      progressText="answers.computing"
    >
      {last && <AnswerList answers={last.answers} />}
    </Level>
  );
}

function SpeedTest({ measured }: { measured: MeasuredSpeed | null }) {
  const { t, format } = useTexts();
  const runIsAtWork = useRuns((state) => state.runs?.some(isAtWork) ?? false);
  const copy = useCopy();
  const when = measured
    ? t('speed.measuredAt', { time: format.dateTime(measured.measuredAt) })
    : t('speed.never');
  return (
    <Level
      level={{ level: 'speed' }}
      title={t('speed.title')}
      when={when}
      isDue={measured === null}
      start={t('speed.measure')}
      progressText="speed.measuring"
      hindrance={runIsAtWork ? t('speed.runIsAtWork') : null}
      beside={
        measured && (
          <Button
            size="compact-sm"
            variant="default"
            loading={copy.isPending}
            onClick={() => copy.mutate(measured.figures)}
          >
            {t('speed.copy')}
          </Button>
        )
      }
    >
      {measured && <SpeedList devices={measured.devices} />}
    </Level>
  );
}

interface LevelProps {
  level: SelfTestLevel;
  title: string;
  /** When it was tested last. */
  when: string;
  isDue: boolean;
  start: string;
  progressText: 'answers.computing' | 'speed.measuring';
  /** Why it can't start now. */
  hindrance?: string | null;
  /** Beside the button that starts it. */
  beside?: ReactNode;
  children: ReactNode;
}

function Level({
  level,
  title,
  when,
  isDue,
  start,
  progressText,
  hindrance = null,
  beside,
  children,
}: LevelProps) {
  const { t } = useTexts();
  const say = useEngineTexts();
  const client = useQueryClient();
  const [progress, setProgress] = useState<StepProgress | null>(null);
  const test = useMutation({
    mutationFn: async () => {
      setProgress(null);
      for await (const step of await engine.computer.runSelfTest(level)) setProgress(step);
    },
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: queries.computer.selfTests.key() }),
        client.invalidateQueries({ queryKey: queries.runs.estimate.key() }),
      ]),
  });
  const failure = test.error ?? progress?.error ?? null;
  return (
    <section aria-label={title}>
      <Group gap="sm">
        <b>{title}</b>
        <span className="muted">{when}</span>
        <Button
          size="compact-sm"
          variant={isDue ? 'filled' : 'default'}
          loading={test.isPending}
          disabled={hindrance !== null}
          onClick={() => test.mutate()}
          aria-label={level.level === 'model' ? `${start}: ${title}` : start}
        >
          {start}
        </Button>
        {beside}
      </Group>
      {hindrance !== null && !test.isPending && <p className="muted">{hindrance}</p>}
      {test.isPending && progress && (
        <p role="status" className="muted">
          {progress.wording
            ? say({ text: progress.step, wording: progress.wording })
            : t(progressText, {
                device: progress.step,
                number: progress.stepNumber,
                count: progress.stepCount,
              })}
        </p>
      )}
      {failure && <ErrorCard error={failure} />}
      {children}
    </section>
  );
}

function AnswerList({ answers: { against, devices } }: { answers: Answers }) {
  const { t, format } = useTexts();
  return (
    <ul className={classes.models}>
      {devices.flatMap(({ id, name, precisions }) =>
        precisions.map(({ precision, problem, scoreDifference, normDifference }) => (
          <Finding
            key={`${id} ${precision}`}
            title={`${name}, ${precision.toUpperCase()}`}
            text={
              problem !== null && normDifference === null
                ? t('answers.notComputed', { problem })
                : t(problem === null ? `answers.right.${against}` : 'answers.differ', {
                    hasScores: scoreDifference === null ? 'no' : 'yes',
                    score: format.percent(scoreDifference ?? 0, 2),
                    norm: format.percent(normDifference ?? 0, 2),
                  })
            }
          >
            {problem === null ? (
              <Badge tone="good" icon={IconCircleCheck}>
                {t('answers.isRight')}
              </Badge>
            ) : (
              <Badge tone="bad" icon={IconAlertTriangle}>
                {t('answers.isWrong')}
              </Badge>
            )}
          </Finding>
        )),
      )}
    </ul>
  );
}

function SpeedList({ devices }: Pick<MeasuredSpeed, 'devices'>) {
  const { t, format } = useTexts();
  return (
    <ul className={classes.models}>
      {devices.map(({ id, name, speed, problem }) => (
        <Finding
          key={id}
          title={speed ? `${name}, ${speed.precision.toUpperCase()}` : name}
          text={
            speed
              ? t(id.startsWith('cpu:') ? 'speed.ofOneCore' : 'speed.ofDevice', {
                  residues: format.integer(Math.round(speed.residuesPerSecond)),
                  frames: format.integer(Math.round(speed.framesPerSecond)),
                  share: format.percent(speed.shareOfProducts, 0),
                })
              : t('speed.notMeasured', { problem: problem ?? '' })
          }
        />
      ))}
    </ul>
  );
}

function Finding({ title, text, children }: { title: string; text: string; children?: ReactNode }) {
  return (
    <li className={classes.model}>
      <div>
        <b>{title}</b>
        <div className="muted">{text}</div>
      </div>
      {children}
    </li>
  );
}
