import { useMutation, useQuery } from '@tanstack/react-query';
import { Button, Center, Group, Stack } from '@mantine/core';
import { IconCheck, IconPlayerPlay } from '@tabler/icons-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import {
  isExample,
  type EnvironmentStatus,
  type ModelStatus,
  type RunSummary,
  type SetUpPlan,
} from '../../../electron/contract/index.ts';
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
import { firstSteps, STEPS, type StepName } from '../../state/computer/firstSteps.ts';
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
  const { current, isDone, usable, checked } = firstSteps({
    environment,
    models: models.data ?? null,
    checks: tests.data ?? null,
    example,
    putOff,
  });
  const ofStep = (name: StepName) => ({
    isCurrent: current === name,
    onLater: () => setPutOff(new Set([...putOff, name])),
  });
  const skip = useMutation({ mutationFn: leave });
  const bodies: Record<StepName, ReactNode> = {
    setUp: <SetUpBody status={environment} />,
    example: <ExampleBody isSetUp={isReady} run={example} {...ofStep('example')} />,
    model: <ModelBody isSetUp={isReady} isKnown={models.isSuccess} usable={usable} {...ofStep('model')} />,
    check: <CheckBody isDone={isDone.check} usable={usable} checked={checked} {...ofStep('check')} />,
    files: <FilesBody withoutModel={!isDone.model} isCurrent={current === 'files'} />,
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
        {STEPS.map((name, index) => (
          <Step key={name} name={name} number={index + 1} done={isDone[name]} isCurrent={current === name}>
            {bodies[name]}
          </Step>
        ))}
      </Stack>
    </Page>
  );
}

interface StepProps {
  name: StepName;
  number: number;
  done: boolean;
  isCurrent: boolean;
  children: ReactNode;
}

function Step({ name, number, done, isCurrent, children }: StepProps) {
  const { t } = useTexts();
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

interface BodyProps {
  isCurrent: boolean;
  onLater: () => void;
}

/** What is said before the set-up, and its button. A failure says itself what went wrong. */
const HOW = {
  absent: ['start.setUp.set_up', 'setUp.start'],
  broken: ['start.setUp.repair', 'common.repair'],
  cancelled: ['start.setUp.go_on', 'common.continue'],
  failed: [null, 'common.tryAgain'],
} as const;

function SetUpBody({ status }: { status: EnvironmentStatus | null }) {
  const { t } = useTexts();
  const start = useMutation({ mutationFn: setUp });
  const cancel = useMutation({ mutationFn: () => engine.computer.cancelSetUp() });
  switch (status?.state) {
    case undefined:
    case 'checking':
      return <p className={classes.text}>{t('common.loading')}</p>;
    case 'ready':
      return (
        <p className={classes.text}>
          {status.torchVersion === null
            ? t('start.setUp.donePython', { python: status.pythonVersion })
            : t('start.setUp.done', { python: status.pythonVersion, torch: status.torchVersion })}
        </p>
      );
    case 'setting_up':
      return (
        <>
          <SetUpProgress progress={status.progress} />
          <p className={classes.text}>{t('start.setUp.meanwhile')}</p>
          <Group gap={10} mt={4}>
            <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
              {t('common.cancel')}
            </Button>
          </Group>
        </>
      );
    case 'interpreter_broken':
    case 'unsupported':
      return (
        <ErrorCard
          error={status.error}
          actions={
            status.state === 'interpreter_broken' && (
              <Button size="compact-md" onClick={() => go({ screen: 'settings' })}>
                {t('setUp.toSettings')}
              </Button>
            )
          }
        />
      );
    case 'absent':
    case 'broken':
    case 'cancelled':
    case 'failed': {
      const [text, button] = HOW[status.state];
      return (
        <>
          {text && <p className={classes.text}>{t(text)}</p>}
          {status.state === 'failed' && <ErrorCard error={status.error} />}
          <PlanFacts plan={status.plan} />
          <Group gap={10} mt={4}>
            <Button loading={start.isPending} onClick={() => start.mutate()}>
              {t(button)}
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

interface ExampleBodyProps extends BodyProps {
  isSetUp: boolean;
  run: RunSummary | null;
}

function ExampleBody({ isSetUp, run, isCurrent, onLater }: ExampleBodyProps) {
  const { t } = useTexts();
  const start = useMutation({ mutationFn: () => runExample({ show: false }) });
  const wanted = useEnvironment((state) => state.exampleWanted);
  if (!isSetUp)
    return <p className={classes.text}>{t(wanted ? 'start.example.wanted' : 'start.example.text')}</p>;
  if (run?.state.phase === 'done')
    return (
      <>
        <p className={classes.text}>{t('example.done')}</p>
        <Group gap={10} mt={4}>
          <Button variant="default" onClick={() => goToRun(run.runId, 'results')}>
            {t('start.example.results')}
          </Button>
        </Group>
      </>
    );
  const watch = run && (
    <Button variant="default" onClick={() => goToRun(run.runId)}>
      {t('start.example.watch')}
    </Button>
  );
  const isStopped = run && (run.interrupted || ['paused', 'failed', 'cancelled'].includes(run.state.phase));
  if (run && !isStopped)
    return (
      <>
        <p className={classes.text} role="status">
          {t('start.example.working')}
        </p>
        <ProgressBar label={t('start.example.working')} fraction={run.fraction} size="large" />
        <Group gap={10} mt={4}>
          {watch}
        </Group>
      </>
    );
  return (
    <>
      <p className={classes.text}>{t(run ? 'start.example.stopped' : 'start.example.text')}</p>
      {run && 'error' in run.state && run.state.error && <ErrorCard error={run.state.error} />}
      <Group gap={10} mt={4}>
        <Button
          variant={isCurrent ? 'filled' : 'default'}
          loading={start.isPending}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          onClick={() => start.mutate()}
        >
          {t('newRun.runExample')}
        </Button>
        {watch}
        {isCurrent && <Later onLater={onLater} />}
      </Group>
    </>
  );
}

function Later({ onLater }: Pick<BodyProps, 'onLater'>) {
  const { t } = useTexts();
  return (
    <Button variant="default" onClick={onLater}>
      {t('start.later')}
    </Button>
  );
}

interface ModelBodyProps extends BodyProps {
  isSetUp: boolean;
  isKnown: boolean;
  usable: readonly ModelStatus[];
}

function ModelBody({ isSetUp, isKnown, usable, isCurrent, onLater }: ModelBodyProps) {
  const { t, format } = useTexts();
  if (isSetUp && !isKnown) return <p className={classes.text}>{t('startReason.models_unknown')}</p>;
  if (usable.length > 0) {
    const names = format.list(usable.map(({ title }) => title));
    return <p className={classes.text}>{t('start.model.done', { names })}</p>;
  }
  return (
    <>
      <p className={classes.text}>{t('start.model.text')}</p>
      {isCurrent && (
        <>
          <p className={classes.text}>{t('start.model.which')}</p>
          <ModelList />
          <Group gap={10} mt={4}>
            <Later onLater={onLater} />
          </Group>
        </>
      )}
    </>
  );
}

interface CheckBodyProps extends BodyProps, Pick<ReturnType<typeof firstSteps>, 'usable' | 'checked'> {
  isDone: boolean;
}

function CheckBody({ isDone, usable, checked, isCurrent, onLater }: CheckBodyProps) {
  const texts = useTexts();
  const { t } = texts;
  const isShown = isDone || isCurrent;
  return (
    <>
      {!isDone && <p className={classes.text}>{t('start.check.text')}</p>}
      {isShown &&
        checked.map(({ model: id, title: name, results }) => {
          const model = usable.find((one) => one.id === id);
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
      {!isDone && isCurrent && (
        <Group gap={10} mt={4}>
          <Later onLater={onLater} />
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
