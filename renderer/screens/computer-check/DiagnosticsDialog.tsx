import { queries } from '../../state/connection.ts';
import { useQuery } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { Dialog, DialogButtons } from '../../components/Dialog.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useCopy } from '../../state/clipboard.ts';

/** Shows the contents before anything is copied: nobody should send what they have not seen. */
export function DiagnosticsDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTexts();
  const diagnostics = useQuery(queries.computer.diagnostics.queryOptions());
  const text = diagnostics.data?.text;
  const copy = useCopy();
  return (
    <Dialog opened onClose={onClose} size={760} title={t('computer.diagnosticsTitle')}>
      <p className="muted" style={{ marginTop: 0 }}>
        {t('computer.diagnosticsText')}
      </p>
      {diagnostics.error && <ErrorCard error={diagnostics.error} />}
      <pre
        className="text-box"
        style={{ height: 380 }}
        tabIndex={0}
        aria-label={t('computer.diagnosticsTitle')}
      >
        {text ?? t('common.loading')}
      </pre>
      <DialogButtons onClose={onClose} leave="close">
        <Button
          disabled={text === undefined}
          loading={copy.isPending}
          onClick={() => copy.mutate(text ?? '')}
        >
          {t('common.copy')}
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
