import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { toShownError, type ShownError } from '../../api/callError.ts';
import { useTexts } from '../../i18n/index.ts';
import { lacksEnvironment, setUpAndShow, useEnvironment } from '../../state/computer/environment.ts';
import { go } from '../../state/navigation.ts';
import { useCopy } from '../../state/clipboard.ts';
import { drawErrorsWith } from '../../state/say.ts';
import { useErrorTexts } from '../../state/engineTexts.ts';
import { Banner } from './Banner.tsx';

interface ErrorCardProps {
  /** An error as a call threw it, or ready to be shown. */
  error: Error | ShownError;
  /** Buttons for the next step. */
  actions?: ReactNode;
  /** Draws no frame, for use inside something that has one. */
  bare?: boolean;
}

/** A button that carries out the next step. */
export function Remedy({ code }: { code: ShownError['code'] }) {
  const { t } = useTexts();
  const button = (label: string, act: () => void) => (
    <Button size="compact-sm" onClick={act}>
      {label}
    </Button>
  );
  switch (code) {
    case 'python_broken':
    case 'python_missing':
    case 'protocol_version':
    case 'nvml_missing':
      return button(t('common.repair'), () => {
        setUpAndShow().catch(() => undefined);
      });
    case 'model_missing':
    case 'model_damaged':
      return button(t('start.model.title'), () => go({ screen: 'models' }));
    case 'network_unreachable':
    case 'network_proxy':
    case 'network_blocked':
    case 'network_certificate':
      return button(t('setUp.toSettings'), () => go({ screen: 'settings' }));
    default:
      return null;
  }
}

/** What went wrong, why, and what to do next. */
export function ErrorCard({ error: reason, actions, bare = false }: ErrorCardProps) {
  const { t } = useTexts();
  const error = toShownError(reason);
  const lacks = useEnvironment(({ status }) => lacksEnvironment(status));
  const { title, cause, next, detail } = useErrorTexts()(error);
  // One cause gets one card: the card above the screen explains it, and everything else that needs Python only refers to it.
  if (lacks && error.code === 'python_broken') return <p className="muted">{t('setUp.afterwards')}</p>;
  const everything = [title, error.cause, next, error.detail ?? ''].join('\n');
  return (
    <Banner
      tone="bad"
      bare={bare}
      title={title}
      actions={
        <>
          {actions ?? <Remedy code={error.code} />}
          {detail !== null && <CopyDetails text={everything} />}
        </>
      }
    >
      {cause !== null && <div>{cause}</div>}
      <div>
        <b>{t('error.nextStep')}</b> {next}
      </div>
    </Banner>
  );
}

export function CopyDetails({ text }: { text: string }) {
  const { t } = useTexts();
  const copy = useCopy();
  return (
    <Button variant="subtle" color="gray" size="compact-sm" onClick={() => copy.mutate(text)}>
      {t('error.copyDetail')}
    </Button>
  );
}

drawErrorsWith((error) => <ErrorCard error={error} bare />);
