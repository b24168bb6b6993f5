import { Button, Group, Modal } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { StepProgress } from '../../../electron/contract/index.ts';
import { toShownError, type ShownError } from '../../api/callError.ts';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { ProgressBar } from '../../components/ProgressBar.tsx';
import { useTexts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';
import classes from './ComputerCheck.module.css';

export interface StepTask {
  readonly kind: 'get_weights';
  readonly model: string;
}

/** A download in steps, with its newest line so that it never looks stuck. */
export function StepDialog({ task, onClose }: { task: StepTask | null; onClose: () => void }) {
  const { t } = useTexts();
  return (
    <Modal
      opened={task !== null}
      onClose={onClose}
      closeOnClickOutside={false}
      title={task ? t(`steps.${task.kind}`) : ''}
    >
      {task && <Steps task={task} onClose={onClose} />}
    </Modal>
  );
}

function Steps({ task, onClose }: { task: StepTask; onClose: () => void }) {
  const { t } = useTexts();
  const [progress, setProgress] = useState<StepProgress | null>(null);
  const [error, setError] = useState<ShownError | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const follow = async () => {
      try {
        const steps = await engine.computer.getWeights({ model: task.model }, { signal });
        for await (const step of steps) {
          if (signal.aborted) return;
          setProgress(step);
        }
      } catch (reason) {
        if (!signal.aborted) setError(toShownError(reason));
      }
    };
    void follow();
    return () => controller.abort();
  }, [task, round]);
  const failure = error ?? progress?.error ?? null;
  const finished = progress?.finished === true && failure === null;
  return (
    <>
      <p className={classes.step} role="status">
        <b>{progress?.step ?? t('steps.starting')}</b>
        {progress && (
          <span className="muted">
            {t('steps.count', { number: progress.stepNumber, count: progress.stepCount })}
          </span>
        )}
      </p>
      <ProgressBar
        label={progress?.step ?? t('steps.starting')}
        fraction={finished ? 1 : (progress?.fraction ?? null)}
        tone={finished ? 'good' : 'active'}
      />
      <p className={classes.line}>{progress?.line}</p>
      {failure && <ErrorCard error={failure} />}
      <Group justify="flex-end" mt="lg" gap="sm">
        {failure && (
          <Button
            onClick={() => {
              setError(null);
              setProgress(null);
              setRound((n) => n + 1);
            }}
          >
            {t('common.tryAgain')}
          </Button>
        )}
        <Button variant={finished ? 'filled' : 'default'} onClick={onClose}>
          {finished ? t('common.done') : t('common.cancel')}
        </Button>
      </Group>
    </>
  );
}
