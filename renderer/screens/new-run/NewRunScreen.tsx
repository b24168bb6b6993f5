import { Button } from '@mantine/core';
import { Guarded } from '../../components/feedback/Guarded.tsx';
import { Page } from '../../components/Page.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useChosenComputer } from '../../state/computer/computers.ts';
import { startOver, useNewRun } from '../../state/newRun/store.ts';
import { FilesStep } from './files/FilesStep.tsx';
import { ModelStep } from './ModelStep.tsx';
import { NothingYet } from './NothingYet.tsx';
import { StartStep } from './StartStep.tsx';
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
      title={t('nav.new-run')}
      lead={isEmpty && (chosen ? t('newRun.leadFar', { name: chosen.address }) : t('newRun.lead'))}
      actions={
        !isEmpty && (
          <Button variant="default" onClick={startOver}>
            {t('newRun.clear')}
          </Button>
        )
      }
    >
      {isEmpty ? (
        <NothingYet />
      ) : (
        <div>
          <Guarded>
            <FilesStep chunkLength={form.model?.chunkLength} />
            <ModelStep form={form} />
            <StartStep form={form} />
          </Guarded>
        </div>
      )}
    </Page>
  );
}
