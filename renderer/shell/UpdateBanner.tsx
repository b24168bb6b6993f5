import { useMutation } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { useState } from 'react';
import { isAtWork } from '../../electron/contract/index.ts';
import { Banner } from '../components/feedback/Banner.tsx';
import { useTexts } from '../i18n/index.ts';
import { engine } from '../state/connection.ts';
import { useRuns } from '../state/runs/runs.ts';
import { useUpdates } from '../state/computer/updates.ts';

/** A newer version of the program: fetched and installed only by the user's word, and never during a run. */
export function UpdateBanner() {
  const { t, format } = useTexts();
  const status = useUpdates();
  const isBusy = useRuns((state) => state.runs?.some(isAtWork) === true);
  const [dismissed, setDismissed] = useState<string>();
  const download = useMutation({ mutationFn: () => engine.shell.downloadUpdate() });
  const install = useMutation({ mutationFn: () => engine.shell.installUpdate() });
  if (!status || dismissed === status.update.state) return null;
  const { update } = status;
  const later = (
    <Button size="compact-sm" variant="subtle" color="slate" onClick={() => setDismissed(update.state)}>
      {t('update.later')}
    </Button>
  );
  switch (update.state) {
    case 'off':
    case 'none':
      return status.outdated ? (
        <Banner tone="info" title={t('update.outdated')} actions={later}>
          {t('update.outdatedText')}
        </Banner>
      ) : null;
    case 'available':
    case 'failed':
      return (
        <Banner
          tone="info"
          title={t(`update.${update.state}`, { version: update.version })}
          actions={
            <>
              <Button
                size="compact-sm"
                disabled={isBusy}
                loading={download.isPending}
                onClick={() => download.mutate()}
              >
                {t(update.state === 'failed' ? 'common.tryAgain' : 'update.download')}
              </Button>
              {later}
            </>
          }
        >
          {t(isBusy ? 'update.afterRun' : `update.${update.state}Text`)}
        </Banner>
      );
    case 'downloading':
      return (
        <Banner tone="info" title={t('update.downloading', { version: update.version })}>
          {format.percent(update.fraction)}
        </Banner>
      );
    case 'ready':
      return (
        <Banner
          tone="good"
          title={t('update.ready', { version: update.version })}
          actions={
            <>
              <Button
                size="compact-sm"
                disabled={isBusy}
                loading={install.isPending}
                onClick={() => install.mutate()}
              >
                {t('update.install')}
              </Button>
              {later}
            </>
          }
        >
          {t(isBusy ? 'update.afterRun' : 'update.readyText')}
        </Banner>
      );
  }
}
