import { useMutation } from '@tanstack/react-query';
import { Button, Group } from '@mantine/core';
import { IconFolderDown, IconFolderSymlink } from '@tabler/icons-react';
import { useEffect } from 'react';
import { Banner } from '../../components/feedback/Banner.tsx';
import { Fold } from '../../components/Fold.tsx';
import { sayError } from '../../state/say.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { useTexts } from '../../i18n/index.ts';
import { lacksEnvironment, useEnvironment } from '../../state/computer/environment.ts';
import {
  cancelPacking,
  chooseOfflineFolder,
  forgetPacking,
  joinPacking,
  openPacking,
  packOffline,
  useOffline,
  type Packing,
} from '../../state/computer/offline.ts';
import { WorkProgress } from '../../components/WorkProgress.tsx';
import classes from './Offline.module.css';

/** Sets up from a folder instead of the network, and packs such a folder for another computer. */
export function OfflinePart() {
  const { t } = useTexts();
  const packing = useOffline((state) => state.packing);
  const lacks = useEnvironment(({ status }) => lacksEnvironment(status));
  useEffect(() => {
    joinPacking().catch(sayError);
  }, []);
  return (
    <Fold title={t('offline.title')} opened={packing !== null}>
      <p className={classes.text}>{t('offline.text')}</p>
      <Group gap="sm">
        <UseFolderButton size="compact-sm" />
        <MakeFolderButton size="compact-sm" />
      </Group>
      {lacks && <p className="muted">{t('offline.makeAfterwards')}</p>}
      {packing && <PackingState packing={packing} />}
    </Fold>
  );
}

function PackingState({ packing: { choice, progress, error, done } }: { packing: Packing }) {
  const { t } = useTexts();
  const cancel = useMutation({ mutationFn: cancelPacking });
  const { folder } = choice;
  if (done)
    return (
      <Banner
        tone="good"
        title={t('offline.packed')}
        actions={
          <Button variant="default" size="compact-sm" onClick={forgetPacking}>
            {t('common.close')}
          </Button>
        }
      >
        {t('offline.packedText', { folder })}
      </Banner>
    );
  if (error !== null)
    return (
      <div className={classes.packing}>
        <ErrorCard
          error={error}
          actions={
            <>
              <Button size="compact-sm" onClick={() => void packOffline(choice)}>
                {t('common.tryAgain')}
              </Button>
              <Button size="compact-sm" variant="default" onClick={openPacking}>
                {t('offline.change')}
              </Button>
            </>
          }
        />
      </div>
    );
  return (
    <section className={classes.packing} aria-label={t('offline.packing', { folder })}>
      <p className={classes.text}>
        <b>{t('offline.packing', { folder })}</b>
      </p>
      <WorkProgress progress={progress} />
      <Group gap="sm">
        <Button
          size="compact-sm"
          variant="default"
          loading={cancel.isPending}
          onClick={() => cancel.mutate()}
        >
          {t('common.cancel')}
        </Button>
        <span className="muted">{t('offline.cancelKeeps')}</span>
      </Group>
    </section>
  );
}

export function UseFolderButton({ size = 'sm' }: { size?: 'sm' | 'compact-sm' }) {
  const { t } = useTexts();
  return (
    <Button
      variant="default"
      size={size}
      leftSection={<IconFolderSymlink size={16} aria-hidden />}
      onClick={() => void chooseOfflineFolder().catch(sayError)}
    >
      {t('offline.use')}
    </Button>
  );
}

/** Packing needs the Python of this computer. */
export function MakeFolderButton({ size = 'sm' }: { size?: 'sm' | 'compact-sm' }) {
  const { t } = useTexts();
  const lacks = useEnvironment(({ status }) => lacksEnvironment(status));
  return (
    <Button
      variant="default"
      size={size}
      disabled={lacks}
      leftSection={<IconFolderDown size={16} aria-hidden />}
      onClick={openPacking}
    >
      {t('offline.make')}
    </Button>
  );
}
