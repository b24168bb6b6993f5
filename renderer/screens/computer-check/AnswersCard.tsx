import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { useState } from 'react';
import type { Answers, ModelAnswers, StepProgress } from '../../../electron/contract/index.ts';
import { Card } from '../../components/Card.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Waiting } from '../../components/feedback/Waiting.tsx';
import { Badge } from '../../components/feedback/StateBadge.tsx';
import { useTexts } from '../../i18n/index.ts';
import { engine, queries } from '../../state/connection.ts';
import { useEngineTexts } from '../../state/engineTexts.ts';
import { modelTitle } from '../../state/computer/modelTexts.ts';
import classes from './ComputerCheck.module.css';

/** Does this installation give the right answers? Known reading frames go through each model, on every device. */
export function AnswersCard() {
  const { t } = useTexts();
  const models = useQuery(queries.computer.answers.queryOptions());
  return (
    <Card title={t('answers.title')} aside={t('answers.hint')}>
      {models.error && <ErrorCard error={models.error} />}
      {!models.data && !models.error && <Waiting like="table" rows={2} />}
      {models.data?.map((model) => (
        <AnswersOfModel key={model.model} {...model} />
      ))}
    </Card>
  );
}

function AnswersOfModel({ model, title: ownTitle, last }: ModelAnswers) {
  const texts = useTexts();
  const { t, format } = texts;
  const known = useQuery(queries.computer.models.queryOptions()).data?.find(({ id }) => id === model);
  const title = known ? modelTitle(known, texts) : ownTitle;
  const say = useEngineTexts();
  const client = useQueryClient();
  const [progress, setProgress] = useState<StepProgress | null>(null);
  const check = useMutation({
    mutationFn: async () => {
      for await (const step of await engine.computer.checkAnswers({ model })) setProgress(step);
    },
    onSettled: () => client.invalidateQueries({ queryKey: queries.computer.answers.key() }),
  });
  const failure = check.error ?? progress?.error ?? null;
  return (
    <section aria-label={title}>
      <p>
        <b>{title}</b>{' '}
        <span className="muted">
          {last === null
            ? t('answers.never')
            : last.outdated
              ? t(`answers.outdated.${last.outdated}`)
              : t('answers.checkedAt', { time: format.dateTime(last.answers.checkedAt) })}
        </span>{' '}
        <Button
          size="compact-sm"
          variant={last === null || last.outdated ? 'filled' : 'default'}
          loading={check.isPending}
          onClick={() => check.mutate()}
          aria-label={`${t('answers.check')}: ${title}`}
        >
          {t('answers.check')}
        </Button>
      </p>
      {check.isPending && progress && (
        <p role="status" className="muted">
          {progress.wording
            ? say({ text: progress.step, wording: progress.wording })
            : t('answers.computing', {
                device: progress.step,
                number: progress.stepNumber,
                count: progress.stepCount,
              })}
        </p>
      )}
      {failure && <ErrorCard error={failure} />}
      {last && <Verdicts answers={last.answers} />}
    </section>
  );
}

function Verdicts({ answers: { against, devices } }: { answers: Answers }) {
  const { t, format } = useTexts();
  return (
    <ul className={classes.models}>
      {devices.flatMap(({ id, name, precisions }) =>
        precisions.map(({ precision, problem, scoreDifference, normDifference }) => (
          <li key={`${id} ${precision}`} className={classes.model}>
            <div>
              <b>
                {name}, {precision.toUpperCase()}
              </b>
              <div className="muted">
                {problem !== null && normDifference === null
                  ? t('answers.notComputed', { problem })
                  : t(problem === null ? `answers.right.${against}` : 'answers.differ', {
                      hasScores: scoreDifference === null ? 'no' : 'yes',
                      score: format.percent(scoreDifference ?? 0, 2),
                      norm: format.percent(normDifference ?? 0, 2),
                    })}
              </div>
            </div>
            {problem === null ? (
              <Badge tone="good" icon={IconCircleCheck}>
                {t('answers.isRight')}
              </Badge>
            ) : (
              <Badge tone="bad" icon={IconAlertTriangle}>
                {t('answers.isWrong')}
              </Badge>
            )}
          </li>
        )),
      )}
    </ul>
  );
}
