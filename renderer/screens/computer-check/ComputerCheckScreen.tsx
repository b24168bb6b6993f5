import { useQuery } from '@tanstack/react-query';
import { Button, Stack } from '@mantine/core';
import { IconClipboardText } from '@tabler/icons-react';
import { resultsOf, type ComputerCheck, type LastResult } from '../../../electron/contract/index.ts';
import { isAtWork } from '../../../electron/contract/runState.ts';
import { sayError } from '../../state/say.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Waiting } from '../../components/feedback/Waiting.tsx';
import { Fold } from '../../components/Fold.tsx';
import { Page } from '../../components/Page.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useCopy } from '../../state/clipboard.ts';
import { modelTitle } from '../../state/computer/modelTexts.ts';
import { queries } from '../../state/connection.ts';
import { lacksEnvironment, setUpAndShow, useEnvironment } from '../../state/computer/environment.ts';
import { runCheck } from '../../state/computer/weights.ts';
import { go } from '../../state/navigation.ts';
import { useRuns } from '../../state/runs/runs.ts';
import { openDiagnostics } from '../../state/runs/runDialog.ts';
import { Calibrations } from './Calibrations.tsx';
import { CheckLine, Line } from './CheckLine.tsx';
import { CheckPart } from './CheckPart.tsx';
import classes from './ComputerCheck.module.css';
import { OfflinePart } from '../offline/OfflinePart.tsx';

const showModels = () => go({ screen: 'models' });

/** Shows whether everything that a run needs is present. Each item has a line with a light, a sentence and at most one button. */
export function ComputerCheckScreen() {
  const texts = useTexts();
  const { t, format } = texts;
  const { data: checks, error, refetch } = useQuery(queries.computer.check.experimental_liveOptions());
  const again = () => void refetch();
  const act = (check: ComputerCheck) => {
    if (check.action?.kind === 'repair_python' || check.action?.kind === 'set_up_python')
      setUpAndShow().catch(sayError);
    else if (check.action?.kind === 'get_weights') showModels();
    else again();
  };
  const lacks = useEnvironment(({ status }) => lacksEnvironment(status));
  const models = useQuery({ ...queries.computer.models.queryOptions(), enabled: !lacks });
  const hasModel = models.data?.some((model) => model.notice === null && model.present) ?? true;
  const tests = useQuery({ ...queries.computer.checks.queryOptions(), enabled: !lacks });
  const checked = (tests.data?.models ?? []).flatMap((one) => {
    const model = models.data?.find(({ id }) => id === one.model);
    return model ? [{ ...one, title: modelTitle(model, texts), model }] : [];
  });
  const pace = checked.find(({ model, chunksPerMinute }) => model.notice === null && chunksPerMinute);
  const results = tests.data?.results ?? [];
  const speeds = resultsOf(results, 'speed');
  const copy = useCopy();
  const runIsAtWork = useRuns((state) => state.runs?.some(isAtWork) ?? false);
  const runAll = async () => {
    again();
    for (const { model } of checked) await runCheck({ check: 'controls', model: model.id });
    if (!runIsAtWork) await runCheck({ check: 'speed' });
  };
  const bad = checks?.filter((check) => check.status === 'bad').length ?? 0;
  const warnings = checks?.filter((check) => check.status === 'warning').length ?? 0;
  const isChecking = checks === undefined || checks.some((check) => check.status === 'checking');
  return (
    <Page
      title={t('computer.title')}
      lead={
        <span role="status">
          {isChecking
            ? t('computer.checking')
            : lacks
              ? t('computer.notSetUp')
              : bad > 0
                ? t('computer.bad', { count: bad })
                : !hasModel
                  ? t('computer.noModel')
                  : warnings > 0
                    ? t('computer.warnings', { count: warnings })
                    : t('computer.good')}{' '}
          {pace &&
            t('computer.pace', {
              count: format.integer(Math.round(pace.chunksPerMinute ?? 0)),
              length: format.bases(pace.model.chunkLength),
              model: pace.title,
            })}
        </span>
      }
      actions={
        <>
          <Button
            variant="default"
            leftSection={<IconClipboardText size={16} aria-hidden />}
            onClick={openDiagnostics}
          >
            {t('computer.diagnostics')}
          </Button>
          <Button variant="default" disabled={isChecking} onClick={again}>
            {t('computer.again')}
          </Button>
          <Button variant="default" disabled={isChecking || lacks} onClick={() => void runAll()}>
            {t('checks.all')}
          </Button>
        </>
      }
    >
      {error && <ErrorCard error={error} />}
      {checks === undefined && !error && <Waiting rows={6} />}
      <ul className={`plain-list ${classes.lines}`}>
        {checks?.map((check) => (
          <CheckLine key={check.id} check={check} onAct={() => act(check)} />
        ))}
        {tests.data && (
          <Line status={speeds.length > 0 ? 'good' : 'waiting'} title={t('speed.title')}>
            <div className={classes.sentence}>
              <CheckPart
                request={{ check: 'speed' }}
                title={t('speed.title')}
                results={speeds}
                hindrance={runIsAtWork ? t('speed.runIsAtWork') : null}
                beside={
                  speeds.length > 0 && (
                    <Button
                      size="compact-sm"
                      variant="default"
                      loading={copy.isPending}
                      onClick={() => copy.mutate(JSON.stringify(speeds, null, 2))}
                    >
                      {t('speed.copy')}
                    </Button>
                  )
                }
              />
            </div>
          </Line>
        )}
        {checked.map(({ model: { id }, title, hash }) => {
          const own = results.filter(({ model }) => model === hash);
          const controls = resultsOf(own, 'controls');
          return (
            <Line key={id} status={statusOf(controls[0])} title={title}>
              <Stack gap={8} className={classes.sentence ?? ''}>
                <CheckPart request={{ check: 'controls', model: id }} title={title} results={controls} />
                <Fold title={t('precision.title')}>
                  <CheckPart
                    request={{ check: 'precision', model: id }}
                    title={title}
                    results={resultsOf(own, 'precision')}
                  />
                </Fold>
              </Stack>
            </Line>
          );
        })}
      </ul>
      <Calibrations />
      <OfflinePart />
    </Page>
  );
}

const statusOf = (newest: LastResult | undefined) =>
  !newest || newest.outdated ? 'waiting' : newest.verdict === 'works' ? 'good' : 'bad';
