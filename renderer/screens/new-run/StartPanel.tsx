import { useMutation } from '@tanstack/react-query';
import { Box, Button, Group, Stack, Text } from '@mantine/core';
import { IconArrowRight, IconClock } from '@tabler/icons-react';
import type { RunEstimate } from '../../../electron/contract/index.ts';
import { isAtWork } from '../../../electron/contract/runState.ts';
import { Banner } from '../../components/feedback/Banner.tsx';
import { Card } from '../../components/Card.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { useComputers } from '../../state/computer/computers.ts';
import { modelTitle } from '../../state/computer/modelTexts.ts';
import { useTexts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';
import { go, goToRun, hashOfRoute } from '../../state/navigation.ts';
import type { StartReason } from '../../state/newRun/startReasons.ts';
import { removeFiles, startOver, useNewRun } from '../../state/newRun/store.ts';
import { verdictOf } from '../../state/newRun/inspection.ts';
import { useRuns } from '../../state/runs/runs.ts';
import classes from './StartPanel.module.css';
import type { NewRunForm } from './useNewRunForm.ts';

const SECONDS_PER_DAY = 86_400;

/** How long it will take, and the button. Whenever the button cannot be pressed, the reason stands beside it. */
export function StartPanel({ form }: { form: NewRunForm }) {
  const texts = useTexts();
  const { t, format } = texts;
  const othersRun = useRuns(
    (state) => state.runs?.some((run) => isAtWork(run) || run.queuePosition !== null) ?? false,
  );
  const { estimate, totals, reasons } = form;
  const start = useMutation({
    mutationFn: async () => {
      if (!form.request) return;
      const { runId } = await engine.runs.create(form.request);
      startOver();
      goToRun(runId);
    },
  });
  const reason = reasons[0];
  // What is measured is this computer, with encoders of the published sizes.
  const canBeMeasured = form.choices.where.kind === 'this_computer' && form.model?.notice === null;
  return (
    <aside className={classes.panel} aria-label={t('newRun.summary')}>
      <Card title={t('newRun.summary')}>
        <Stack component="dl" gap={6} m={0} mb={14}>
          <Line label={t('newRun.column.sequences')} value={format.integer(totals.sequences)} />
          <Line label={t('newRun.column.bases')} value={format.bases(totals.bases)} />
          <Line label={t('newRun.chunks')} value={format.integer(totals.chunks)} />
          <Line label={t('newRun.model')} value={form.model ? modelTitle(form.model, texts) : '–'} />
          <Line
            label={t('newRun.compute')}
            value={
              form.choices.where.kind !== 'this_computer'
                ? t(`where.${form.choices.where.kind}`)
                : form.gpus.length > 0 && !form.choices.useCpu
                  ? t('newRun.gpuCount', { count: form.gpus.length })
                  : t('newRun.processor')
            }
          />
          <Line label={t('newRun.diskNeeded')} value={estimate ? format.fileSize(estimate.diskBytes) : '–'} />
        </Stack>
        <div className={classes.time} aria-live="polite" data-pending={form.estimating}>
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
        </div>
        {estimate?.seconds && estimate.seconds.low > SECONDS_PER_DAY && <FasterWays />}
        {form.model !== null && form.model.notice !== null && (
          <Box mb={12}>
            <Banner tone="caution" title={t('run.notForResearch')}>
              {t('teaching.marked')}
            </Banner>
          </Box>
        )}
        {form.estimateError && <ErrorCard error={form.estimateError} />}
        <Button
          fullWidth
          size="md"
          loading={start.isPending}
          disabled={reason !== undefined || !form.request}
          rightSection={<IconArrowRight size={18} aria-hidden />}
          aria-describedby="start-reason"
          onClick={() => start.mutate()}
        >
          {othersRun ? t('newRun.enqueue') : t('newRun.start')}
        </Button>
        <Box mt={10} fz="sm" mih="1.5em" id="start-reason" role="status">
          {start.isPending ? (
            t('newRun.preparing')
          ) : reason ? (
            <Reason reason={reason} />
          ) : othersRun ? (
            t('newRun.enqueueHint')
          ) : null}
        </Box>
      </Card>
    </aside>
  );
}

/** What the time rests on; where it isn't known, how to find it out. */
function TimeBasis({ basis, canBeMeasured }: { basis: RunEstimate['basis']; canBeMeasured: boolean }) {
  const { t, format } = useTexts();
  if (basis) {
    const date = format.date(basis.measuredAt);
    return basis.runs === null
      ? t('newRun.timeFromSpeed', { date })
      : t('newRun.timeBasis', { count: basis.runs, date });
  }
  return (
    <>
      {t('newRun.timeNoBasis')}{' '}
      {canBeMeasured && <a href={hashOfRoute({ screen: 'computer' })}>{t('newRun.measureSpeed')}</a>}
    </>
  );
}

/** For a run of more than a day: what a biologist can do about it. */
function FasterWays() {
  const { t } = useTexts();
  const hasComputers = useComputers() !== null;
  return (
    <Box mb={14} fz="sm">
      <Text mb={4} fw={560} fz="inherit">
        {t('newRun.faster')}
      </Text>
      <Box component="ul" m={0} pl={18}>
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

function Line({ label, value }: { label: string; value: string }) {
  return (
    <Group justify="space-between" gap={16} align="flex-start" wrap="nowrap">
      <Text component="dt" c="dimmed">
        {label}
      </Text>
      <Text component="dd" fw={560} ta="right" style={{ overflowWrap: 'anywhere' }}>
        {value}
      </Text>
    </Group>
  );
}

function Reason({ reason }: { reason: StartReason }) {
  const { t } = useTexts();
  switch (reason.code) {
    case 'engine':
      return <ErrorCard error={reason.error} bare />;
    case 'not_set_up':
      return (
        <>
          {t('startReason.not_set_up')}{' '}
          <Button variant="light" size="compact-sm" mt={6} onClick={() => go({ screen: 'start' })}>
            {t('setUp.start')}
          </Button>
        </>
      );
    case 'no_model':
      return (
        <>
          {t('startReason.no_model')}{' '}
          <Button fullWidth mt={8} onClick={() => go({ screen: 'computer' })}>
            {t('startReason.getModel')}
          </Button>
        </>
      );
    case 'model_missing':
    case 'model_damaged':
      return (
        <>
          {t(`startReason.${reason.code}`, { model: reason.model })}{' '}
          <Button variant="light" size="compact-sm" mt={6} onClick={() => go({ screen: 'computer' })}>
            {t('startReason.getModel')}
          </Button>
        </>
      );
    case 'blocked_files':
      return (
        <>
          {t('startReason.blocked_files', { count: reason.count })}{' '}
          <Button variant="light" size="compact-sm" mt={6} onClick={removeBlocked}>
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

function removeBlocked(): void {
  const blocked = useNewRun.getState().files.filter((file) => verdictOf(file) === 'blocked');
  removeFiles(blocked.map((file) => file.path));
}
