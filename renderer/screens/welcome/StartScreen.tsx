import { useMutation, useQuery } from '@tanstack/react-query';
import { Button, Center, Group, Stack } from '@mantine/core';
import { IconCheck, IconPlayerPlay } from '@tabler/icons-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { isExample, type SetUpPlan } from '../../../electron/contract/index.ts';
import { Banner } from '../../components/feedback/Banner.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Guarded } from '../../components/feedback/Guarded.tsx';
import { Facts } from '../../components/Facts.tsx';
import { Page } from '../../components/Page.tsx';
import { ProgressBar } from '../../components/feedback/ProgressBar.tsx';
import { SetUpProgress, useSetUpSize } from '../../components/SetUp.tsx';
import { useTexts } from '../../i18n/index.ts';
import { engine, queries } from '../../state/connection.ts';
import { runExample, setUp, useEnvironment } from '../../state/computer/environment.ts';
import {
  firstSteps,
  type ExampleStep,
  type CheckStep,
  type ModelStep,
  type SetUpStep,
  type StepName,
} from '../../state/computer/firstSteps.ts';
import { modelTitle } from '../../state/computer/modelTexts.ts';
import { go, goToRun } from '../../state/navigation.ts';
import { useRuns } from '../../state/runs/runs.ts';
import { changeSettings } from '../../state/settings.ts';
import { ModelList } from '../models/ModelList.tsx';
import { CheckPart } from '../computer-check/CheckPart.tsx';
import { UseFolderButton } from '../offline/OfflinePart.tsx';
import { PickButtons } from '../new-run/files/PickButtons.tsx';
import { useNewRun } from '../../state/newRun/store.ts';
import classes from './StartScreen.module.css';

/** Navigates first, so that a user who moves on before the engine answers is not brought back. */
const leave = async () => {
  go({ screen: 'new-run' });
  await changeSettings({ welcomeSeen: true });
};

/** Leads from a fresh computer to the user's own files. Finished steps are shown as done, whoever did them. */
export function StartScreen() {
  const { t } = useTexts();
  const [putOff, setPutOff] = useState<ReadonlySet<StepName>>(new Set());
  const environment = useEnvironment((state) => state.status);
  const example = useRuns((state) => state.runs?.find((run) => isExample(run)) ?? null);
  const isReady = environment?.state === 'ready';
  const models = useQuery({ ...queries.computer.models.queryOptions(), enabled: isReady });
  const tests = useQuery({ ...queries.computer.checks.queryOptions(), enabled: isReady });
  const steps = firstSteps({
    environment,
    models: models.data ?? null,
    checks: tests.data ?? null,
    example,
    putOff,
  });
  const ofStep = (name: StepName) => ({
    isCurrent: steps.current === name,
    onLater: () => setPutOff(new Set([...putOff, name])),
  });
  const skip = useMutation({ mutationFn: leave });
  const isDone = {
    setUp: isReady,
    example: steps.example.state === 'done',
    model: steps.model.state === 'done',
    check: steps.check.state === 'done',
  };
  return (
    <Page
      narrow
      title={t('nav.start')}
      lead={t('start.lead')}
      actions={
        <Button variant="default" onClick={() => skip.mutate()}>
          {t('start.skip')}
        </Button>
      }
    >
      <Stack component="ol" className="plain-list" gap={12}>
        <Step name="setUp" number={1} done={isDone.setUp} current={steps.current}>
          <SetUpBody step={steps.setUp} />
        </Step>
        <Step name="example" number={2} done={isDone.example} current={steps.current}>
          <ExampleBody step={steps.example} {...ofStep('example')} />
        </Step>
        <Step name="model" number={3} done={isDone.model} current={steps.current}>
          <ModelBody step={steps.model} {...ofStep('model')} />
        </Step>
        <Step name="check" number={4} done={isDone.check} current={steps.current}>
          <CheckBody step={steps.check} {...ofStep('check')} />
        </Step>
        <Step name="files" number={5} done={false} current={steps.current}>
          <FilesBody
            withoutModel={steps.files.state === 'without_model'}
            isCurrent={steps.current === 'files'}
          />
        </Step>
      </Stack>
    </Page>
  );
}

interface StepProps {
  name: StepName;
  number: number;
  done: boolean;
  current: StepName;
  children: ReactNode;
}

function Step({ name, number, done, current, children }: StepProps) {
  const { t } = useTexts();
  const isCurrent = name === current;
  return (
    <li
      className={classes.step}
      data-current={isCurrent}
      data-done={done}
      aria-current={isCurrent ? 'step' : undefined}
    >
      <Center component="span" w={36} h={36} bdrs={18} className={classes.mark ?? ''} aria-hidden>
        {done ? <IconCheck size={20} stroke={2.4} /> : number}
      </Center>
      <Stack gap={10} miw={0}>
        <h2 className={classes.title}>
          {t(`start.${name}.title`)}
          {done && <span className="visually-hidden"> ({t('common.done')})</span>}
        </h2>
        <Guarded>{children}</Guarded>
      </Stack>
    </li>
  );
}

interface BodyProps<Step> {
  step: Step;
  isCurrent: boolean;
  onLater: () => void;
}

function SetUpBody({ step }: { step: SetUpStep }) {
  const { t } = useTexts();
  const start = useMutation({ mutationFn: setUp });
  const cancel = useMutation({ mutationFn: () => engine.computer.cancelSetUp() });
  switch (step.state) {
    case 'looking':
      return <p className={classes.text}>{t('common.loading')}</p>;
    case 'done':
      return (
        <p className={classes.text}>
          {step.torchVersion === null
            ? t('start.setUp.donePython', { python: step.pythonVersion })
            : t('start.setUp.done', { python: step.pythonVersion, torch: step.torchVersion })}
        </p>
      );
    case 'working':
      return (
        <>
          <SetUpProgress progress={step.progress} />
          <p className={classes.text}>{t('start.setUp.meanwhile')}</p>
          <Group gap={10} mt={4}>
            <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
              {t('common.cancel')}
            </Button>
          </Group>
        </>
      );
    case 'impossible':
      return (
        <ErrorCard
          error={step.error}
          actions={
            step.remedy === 'interpreter' && (
              <Button size="compact-md" onClick={() => go({ screen: 'settings' })}>
                {t('setUp.toSettings')}
              </Button>
            )
          }
        />
      );
    case 'failed':
    case 'todo':
      return (
        <>
          {step.state === 'failed' ? (
            <ErrorCard error={step.error} />
          ) : (
            <p className={classes.text}>{t(`start.setUp.${step.how}`)}</p>
          )}
          <PlanFacts plan={step.plan} />
          <Group gap={10} mt={4}>
            <Button loading={start.isPending} onClick={() => start.mutate()}>
              {step.state === 'failed'
                ? t('common.tryAgain')
                : t(
                    step.how === 'set_up'
                      ? 'setUp.start'
                      : step.how === 'repair'
                        ? 'common.repair'
                        : 'common.continue',
                  )}
            </Button>
            <Button variant="default" onClick={() => go({ screen: 'settings' })}>
              {t('start.setUp.change')}
            </Button>
            <UseFolderButton />
          </Group>
        </>
      );
  }
}

function PlanFacts({ plan }: { plan: SetUpPlan }) {
  const { t, format } = useTexts();
  const size = useSetUpSize(plan);
  const tooSmall =
    plan.diskBytes !== null && plan.diskFreeBytes !== null && plan.diskFreeBytes < plan.diskBytes;
  return (
    <>
      <Facts
        size="small"
        items={[
          { label: t('start.setUp.download'), value: size ?? t('common.unknown') },
          {
            label: t('disk.title'),
            value:
              plan.diskBytes === null
                ? t('common.unknown')
                : t('start.setUp.diskOf', {
                    size: format.fileSize(plan.diskBytes),
                    free:
                      plan.diskFreeBytes === null ? t('common.unknown') : format.fileSize(plan.diskFreeBytes),
                  }),
          },
        ]}
      />
      <p className={classes.folder}>
        {t('start.setUp.folder')} <code>{plan.folder}</code>
      </p>
      {tooSmall && (
        <Banner bare tone="warn">
          {t('start.setUp.tooSmall')}
        </Banner>
      )}
    </>
  );
}

function ExampleBody({ step, isCurrent, onLater }: BodyProps<ExampleStep>) {
  const { t } = useTexts();
  const run = useMutation({ mutationFn: () => runExample({ show: false }) });
  const wanted = useEnvironment((state) => state.exampleWanted);
  switch (step.state) {
    case 'later':
      return <p className={classes.text}>{t(wanted ? 'start.example.wanted' : 'start.example.text')}</p>;
    case 'working':
      return (
        <>
          <p className={classes.text} role="status">
            {t('start.example.working')}
          </p>
          <ProgressBar label={t('start.example.working')} fraction={step.fraction} size="large" />
          <Group gap={10} mt={4}>
            <Button variant="default" onClick={() => goToRun(step.runId)}>
              {t('start.example.watch')}
            </Button>
          </Group>
        </>
      );
    case 'done':
      return (
        <>
          <p className={classes.text}>{t('example.done')}</p>
          <Group gap={10} mt={4}>
            <Button variant="default" onClick={() => goToRun(step.runId, 'results')}>
              {t('start.example.results')}
            </Button>
          </Group>
        </>
      );
    case 'stopped':
    case 'todo':
      return (
        <>
          <p className={classes.text}>
            {t(step.state === 'stopped' ? 'start.example.stopped' : 'start.example.text')}
          </p>
          {step.state === 'stopped' && step.error && <ErrorCard error={step.error} />}
          <Group gap={10} mt={4}>
            <Button
              variant={isCurrent ? 'filled' : 'default'}
              loading={run.isPending}
              leftSection={<IconPlayerPlay size={16} aria-hidden />}
              onClick={() => run.mutate()}
            >
              {t('newRun.runExample')}
            </Button>
            {step.state === 'stopped' && (
              <Button variant="default" onClick={() => goToRun(step.runId)}>
                {t('start.example.watch')}
              </Button>
            )}
            {isCurrent && (
              <Button variant="default" onClick={onLater}>
                {t('start.later')}
              </Button>
            )}
          </Group>
        </>
      );
  }
}

function ModelBody({ step, isCurrent, onLater }: BodyProps<ModelStep>) {
  const { t, format } = useTexts();
  switch (step.state) {
    case 'later':
      return <p className={classes.text}>{t('start.model.text')}</p>;
    case 'looking':
      return <p className={classes.text}>{t('startReason.models_unknown')}</p>;
    case 'done':
      return <p className={classes.text}>{t('start.model.done', { names: format.list(step.titles) })}</p>;
    case 'todo':
      return (
        <>
          <p className={classes.text}>{t('start.model.text')}</p>
          {isCurrent && (
            <>
              <p className={classes.text}>{t('start.model.which')}</p>
              <ModelList />
              <Group gap={10} mt={4}>
                <Button variant="default" onClick={onLater}>
                  {t('start.later')}
                </Button>
              </Group>
            </>
          )}
        </>
      );
  }
}

function CheckBody({ step, isCurrent, onLater }: BodyProps<CheckStep>) {
  const texts = useTexts();
  const { t } = texts;
  const models = useQuery({ ...queries.computer.models.queryOptions(), enabled: step.state !== 'later' });
  if (step.state === 'later' || (step.state === 'todo' && !isCurrent))
    return <p className={classes.text}>{t('start.check.text')}</p>;
  return (
    <>
      {step.state === 'todo' && <p className={classes.text}>{t('start.check.text')}</p>}
      {step.models.map(({ model: id, title: name, results }) => {
        const model = models.data?.find((one) => one.id === id);
        const title = model ? modelTitle(model, texts) : name;
        return (
          <CheckPart
            key={id}
            request={{ check: 'controls', model: id }}
            title={title}
            results={results}
            heading={<b>{title}</b>}
          />
        );
      })}
      {step.state === 'todo' && (
        <Group gap={10} mt={4}>
          <Button variant="default" onClick={onLater}>
            {t('start.later')}
          </Button>
        </Group>
      )}
    </>
  );
}

function FilesBody({ withoutModel, isCurrent }: { withoutModel: boolean; isCurrent: boolean }) {
  const { t } = useTexts();
  const files = useNewRun(({ files, looking, uploads }) => files.length + uploads.length + Number(looking));
  const filesBefore = useRef(files);
  useEffect(() => {
    // Files dropped or picked here belong to a new run of the user's own. A user who already had files came here for something else.
    if (isCurrent && files > filesBefore.current) void leave();
  }, [isCurrent, files]);
  return (
    <>
      <p className={classes.text}>
        {t(!isCurrent ? 'start.files.later' : withoutModel ? 'start.files.withoutModel' : 'start.files.text')}
      </p>
      {isCurrent && (
        <Group gap={10} mt={4}>
          <PickButtons primary />
        </Group>
      )}
    </>
  );
}
