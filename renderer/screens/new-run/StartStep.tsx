import { useMutation } from '@tanstack/react-query';
import { Box, Button, Group, Text, TextInput } from '@mantine/core';
import { IconArrowRight, IconClock } from '@tabler/icons-react';
import type { RunEstimate } from '../../../electron/contract/index.ts';
import { isAtWork } from '../../../electron/contract/runState.ts';
import { Banner } from '../../components/feedback/Banner.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { useComputers } from '../../state/computer/computers.ts';
import { useTexts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';
import { go, goToRun, hashOfRoute } from '../../state/navigation.ts';
import type { StartReason } from '../../state/newRun/startReasons.ts';
import { choose, startOver, useNewRun } from '../../state/newRun/store.ts';
import { verdictOf } from '../../state/newRun/inspection.ts';
import { useRuns } from '../../state/runs/runs.ts';
import { ComputeSettings } from './compute/ComputeSettings.tsx';
import classes from './NewRunScreen.module.css';
import { useRemoveFiles } from './files/useRemoveFiles.ts';
import { Step } from './Step.tsx';
import type { NewRunForm } from './useNewRunForm.ts';

const SECONDS_PER_DAY = 86_400;

/** The run's name, where it computes, its estimated time, and the button. While the button is disabled, the reason is shown beside it. */
export function StartStep({ form }: { form: NewRunForm }) {
  const { t, format } = useTexts();
  const othersRun = useRuns(
    (state) => state.runs?.some((run) => isAtWork(run) || run.queuePosition !== null) ?? false,
  );
  const { estimate, reasons, planned, choices } = form;
  const start = useMutation({ mutationFn: () => startRun(planned) });
  const reason = reasons[0];
  // Without a model there is nothing to compute, and nothing to say about it.
  const hasModel = form.model !== null;
  // The speed test measures this computer, with encoders of the published sizes.
  const canBeMeasured = form.model?.notice === null;
  return (
    <Step number={3} title={t('newRun.start')} done={false} opened onToggle={undefined}>
      <Group gap="12px 24px" align="flex-start" mb={14}>
        <TextInput
          flex="1 1 240px"
          maw={420}
          label={t('newRun.name')}
          maxLength={200}
          value={choices.name}
          onChange={(event) => choose({ name: event.currentTarget.value })}
        />
        {hasModel && (
          <Box flex="1 1 260px" className={classes.time} aria-live="polite" data-pending={form.estimating}>
            <IconClock size={20} aria-hidden />
            <div>
              <Text fz={15} fw={620}>
                {estimate?.seconds
                  ? t('newRun.about', {
                      time: format.durationRange(estimate.seconds.low, estimate.seconds.high),
                    })
                  : t('newRun.timeUnknown')}
              </Text>
              {estimate && (
                <Text mt={2} fz="xs" c="dimmed">
                  <TimeBasis basis={estimate.basis} canBeMeasured={canBeMeasured} />
                </Text>
              )}
            </div>
          </Box>
        )}
      </Group>
      {hasModel && <ComputeSettings form={form} />}
      {estimate?.seconds && estimate.seconds.low > SECONDS_PER_DAY && <FasterWays />}
      {form.estimateError && <ErrorCard error={form.estimateError} />}
      <Group gap="8px 16px">
        <Button
          size="md"
          loading={start.isPending}
          disabled={reason !== undefined || planned === null}
          rightSection={<IconArrowRight size={18} aria-hidden />}
          aria-describedby="start-reason"
          onClick={() => start.mutate()}
        >
          {t(othersRun ? 'newRun.enqueue' : 'newRun.start')}
        </Button>
        <Box flex="1 1 200px" fz="sm" id="start-reason" role="status">
          {start.isPending ? (
            t('newRun.preparing')
          ) : reason ? (
            <Reason reason={reason} />
          ) : othersRun ? (
            t('newRun.enqueueHint')
          ) : null}{' '}
          {planned && form.model !== null && form.model.notice !== null && (
            <Banner bare tone="warn">
              {t('teaching.marked')}
            </Banner>
          )}
        </Box>
      </Group>
    </Step>
  );
}

async function startRun(planned: NewRunForm['planned']): Promise<void> {
  if (planned === null) return;
  const { runId } = await engine.runs.create(planned);
  startOver();
  goToRun(runId);
}

/** The basis of the estimated time, or, if there is none, how to measure it. */
function TimeBasis({ basis, canBeMeasured }: { basis: RunEstimate['basis']; canBeMeasured: boolean }) {
  const { t, format } = useTexts();
  if (basis) {
    const date = format.date(basis.measuredAt);
    return basis.runs === null
      ? t('newRun.timeFromSpeed', { date })
      : t('newRun.timeBasis', { count: basis.runs, date });
  }
  return canBeMeasured && <a href={hashOfRoute({ screen: 'computer' })}>{t('newRun.measureSpeed')}</a>;
}

/** Suggests how to speed up a run of more than a day. */
function FasterWays() {
  const { t } = useTexts();
  const hasComputers = useComputers() !== null;
  return (
    <Box mb={14} fz="sm">
      <Text mb={4} fw={560} fz="inherit">
        {t('newRun.faster')}
      </Text>
      <Box component="ul" m={0} pl={18}>
        <li>{t('newRun.faster.enough', { title: t('goal.title'), place: t('advanced.title') })}</li>
        <li>{t('newRun.faster.lessFiles')}</li>
        {hasComputers && (
          <li>
            <a href={hashOfRoute({ screen: 'computers' })}>{t('newRun.faster.otherComputer')}</a>
          </li>
        )}
        <li>
          <a href={hashOfRoute({ screen: 'guide', page: 'rented-gpu' })}>{t('newRun.faster.rent')}</a>
        </li>
      </Box>
    </Box>
  );
}

function Reason({ reason }: { reason: StartReason }) {
  const { t } = useTexts();
  const remove = useRemoveFiles();
  switch (reason.code) {
    case 'engine':
      return <ErrorCard error={reason.error} bare />;
    case 'not_set_up':
      return (
        <>
          {t('startReason.not_set_up')}{' '}
          <Button variant="light" size="compact-sm" onClick={() => go({ screen: 'start' })}>
            {t('setUp.start')}
          </Button>
        </>
      );
    case 'no_model':
      return (
        <>
          {t('startReason.no_model')}{' '}
          <Button variant="light" size="compact-sm" onClick={() => go({ screen: 'models' })}>
            {t('start.model.title')}
          </Button>
        </>
      );
    case 'model_missing':
    case 'model_damaged':
      return (
        <>
          {t(`startReason.${reason.code}`, { model: reason.model })}{' '}
          <Button variant="light" size="compact-sm" onClick={() => go({ screen: 'models' })}>
            {t('start.model.title')}
          </Button>
        </>
      );
    case 'blocked_files':
      return (
        <>
          {t('startReason.blocked_files', { count: reason.count })}{' '}
          <Button variant="light" size="compact-sm" onClick={() => remove(blockedPaths())}>
            {t('newRun.removeBlocked')}
          </Button>
        </>
      );
    case 'looking':
      return t('startReason.looking', { count: reason.count });
    default:
      return t(`startReason.${reason.code}`);
  }
}

function blockedPaths(): string[] {
  const blocked = useNewRun.getState().files.filter((file) => verdictOf(file) === 'blocked');
  return blocked.map((file) => file.path);
}
