import { Button, Stack } from '@mantine/core';
import { Page } from '../../components/Page.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useChosenComputer } from '../../state/computer/computers.ts';
import { startOver, useNewRun } from '../../state/newRun/store.ts';
import { ComputeCard } from './compute/ComputeCard.tsx';
import { FilesCard } from './files/FilesCard.tsx';
import { ModelCard } from './ModelCard.tsx';
import { NothingYet } from './NothingYet.tsx';
import classes from './NewRunScreen.module.css';
import { OutputCard } from './OutputCard.tsx';
import { StartPanel } from './StartPanel.tsx';
import { useNewRunForm } from './useNewRunForm.ts';

export function NewRunScreen() {
  const { t } = useTexts();
  const chosen = useChosenComputer();
  const form = useNewRunForm();
  const isEmpty = useNewRun(
    (state) =>
      state.files.length === 0 && !state.looking && state.uploads.length === 0 && state.inspectError === null,
  );
  return (
    <Page
      title={t('newRun.title')}
      lead={chosen ? t('newRun.leadFar', { name: chosen.name }) : t('newRun.lead')}
      actions={
        !isEmpty && (
          <Button variant="subtle" color="slate" onClick={startOver}>
            {t('newRun.clear')}
          </Button>
        )
      }
    >
      {isEmpty ? (
        <NothingYet />
      ) : (
        <div className={classes.columns}>
          <Stack gap={16} miw={0}>
            <FilesCard />
            <ModelCard form={form} />
            <ComputeCard form={form} />
            <OutputCard form={form} />
          </Stack>
          <StartPanel form={form} />
        </div>
      )}
    </Page>
  );
}
