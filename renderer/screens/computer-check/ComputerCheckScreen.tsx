import { useQuery } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { IconClipboardText } from '@tabler/icons-react';
import type { ComputerCheck } from '../../../electron/contract/index.ts';
import { sayError } from '../../state/say.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Waiting } from '../../components/feedback/Waiting.tsx';
import { Page } from '../../components/Page.tsx';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { lacksEnvironment, setUpAndShow, useEnvironment } from '../../state/computer/environment.ts';
import { openDiagnostics } from '../../state/runs/runDialog.ts';
import { CheckCard } from './CheckCard.tsx';
import { SelfTestCard } from './SelfTestCard.tsx';
import classes from './ComputerCheck.module.css';
import { ModelsCard } from '../models/ModelsCard.tsx';
import { OfflineCard } from '../offline/OfflineCard.tsx';

const showModels = () => document.getElementById('models')?.scrollIntoView({ block: 'start' });

/** Is everything there that a run needs? Each thing with a light, a sentence and at most one button. */
export function ComputerCheckScreen() {
  const { t } = useTexts();
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
                    : t('computer.good')}
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
          {!lacks && !hasModel && <Button onClick={showModels}>{t('startReason.getModel')}</Button>}
        </>
      }
    >
      {error && <ErrorCard error={error} />}
      {checks === undefined && !error && <Waiting like="choices" rows={6} />}
      <div className={classes.grid}>
        {checks?.map((check) => (
          <CheckCard key={check.id} check={check} onAct={() => act(check)} />
        ))}
      </div>
      <div id="models">
        <ModelsCard />
      </div>
      <SelfTestCard />
      <OfflineCard />
    </Page>
  );
}
