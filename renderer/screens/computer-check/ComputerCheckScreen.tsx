import { useQuery } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { IconClipboardText } from '@tabler/icons-react';
import type { ComputerCheck } from '../../../electron/contract/index.ts';
import { sayError } from '../../state/say.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Waiting } from '../../components/feedback/Waiting.tsx';
import { Page } from '../../components/Page.tsx';
import { useTexts } from '../../i18n/index.ts';
import { modelTitle } from '../../state/computer/modelTexts.ts';
import { queries } from '../../state/connection.ts';
import { lacksEnvironment, setUpAndShow, useEnvironment } from '../../state/computer/environment.ts';
import { go } from '../../state/navigation.ts';
import { openDiagnostics } from '../../state/runs/runDialog.ts';
import { Calibrations } from './Calibrations.tsx';
import { CheckLine, SpeedLine } from './CheckLine.tsx';
import classes from './ComputerCheck.module.css';
import { ModelLine } from './ModelChecks.tsx';
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
  const paces = tests.data?.models.flatMap(({ model: id, chunksPerMinute }) => {
    const model = models.data?.find((one) => one.id === id && one.notice === null);
    return model && chunksPerMinute ? [{ model, count: chunksPerMinute }] : [];
  });
  const pace = paces?.[0];
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
              count: format.integer(Math.round(pace.count)),
              length: format.bases(pace.model.chunkLength),
              model: modelTitle(pace.model, texts),
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
        </>
      }
    >
      {error && <ErrorCard error={error} />}
      {checks === undefined && !error && <Waiting like="choices" rows={6} />}
      <ul className={`plain-list ${classes.lines}`}>
        {checks?.map((check) => (
          <CheckLine key={check.id} check={check} onAct={() => act(check)} />
        ))}
        {checks && !lacks && <SpeedLine />}
        {tests.data?.models.map((one) => {
          const model = models.data?.find(({ id }) => id === one.model);
          return model && <ModelLine key={one.model} title={modelTitle(model, texts)} tests={one} />;
        })}
      </ul>
      <Calibrations />
      <OfflinePart />
    </Page>
  );
}
