import { useMutation } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { useTexts } from '../i18n/index.ts';
import { Banner } from '../components/feedback/Banner.tsx';
import { ErrorCard } from '../components/feedback/ErrorCard.tsx';
import { useSetUpSize } from '../components/SetUp.tsx';
import { setUpAndShow, useEnvironment } from '../state/computer/environment.ts';
import { go } from '../state/navigation.ts';

/** What is said where Python can be set up, and the button that does it. */
const OFFERS = {
  absent: ['setUp.absentText', 'setUp.start'],
  broken: ['setUp.brokenText', 'common.repair'],
  cancelled: ['setUp.kept', 'common.continue'],
} as const;

/** Nothing computes without Python: this is shown once, above every screen, with a button that helps. The computer
 * check has a card of its own for what is not set up yet. */
export function EnvironmentBanner({ atCheck }: { atCheck: boolean }) {
  const { t, format } = useTexts();
  const status = useEnvironment((state) => state.status);
  const size = useSetUpSize(status && 'plan' in status ? status.plan : null);
  const start = useMutation({ mutationFn: setUpAndShow });
  const action = (label: string) => (
    <Button size="compact-md" loading={start.isPending} onClick={() => start.mutate()}>
      {label}
    </Button>
  );
  const toSettings = (variant: 'filled' | 'default') => (
    <Button size="compact-md" variant={variant} onClick={() => go({ screen: 'settings' })}>
      {t('setUp.toSettings')}
    </Button>
  );
  if (atCheck && (status?.state === 'absent' || status?.state === 'broken')) return null;
  switch (status?.state) {
    case undefined:
    case 'checking':
    case 'ready':
      return null;
    case 'absent':
    case 'broken':
    case 'cancelled': {
      const [text, button] = OFFERS[status.state];
      return (
        <Banner tone="warn" title={t(`setUp.${status.state}`)} actions={action(t(button))}>
          {t(text)} {status.state !== 'cancelled' && size}
        </Banner>
      );
    }
    case 'setting_up': {
      const { bytes, remainingSeconds } = status.progress;
      return (
        <Banner
          tone="info"
          title={t('setUp.working')}
          actions={
            <Button size="compact-md" variant="default" onClick={() => go({ screen: 'start' })}>
              {t('setUp.show')}
            </Button>
          }
        >
          {bytes && bytes.total
            ? t('common.of', { part: format.fileSize(bytes.done), whole: format.fileSize(bytes.total) })
            : null}
          {remainingSeconds ? ` · ${t('setUp.left', { time: format.duration(remainingSeconds) })}` : null}
        </Banner>
      );
    }
    case 'failed':
      return (
        <ErrorCard
          error={status.error}
          actions={
            <>
              {action(t('common.tryAgain'))}
              {toSettings('default')}
            </>
          }
        />
      );
    case 'interpreter_broken':
      return <ErrorCard error={{ ...status.error, code: 'python_missing' }} actions={toSettings('filled')} />;
    case 'unsupported':
      return <ErrorCard error={status.error} />;
  }
}
