import { useMutation, useQuery } from '@tanstack/react-query';
import { Button, List, Loader } from '@mantine/core';
import { Dialog, DialogButtons } from '../../components/Dialog.tsx';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { sayError } from '../../state/say.ts';
import { PathText } from '../../components/files/PathText.tsx';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { resumeRun } from '../../state/runs/runs.ts';

/** Compares a run with its checksums, and reports for each changed file what was found. */
export function VerifyDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const { t } = useTexts();
  const verified = useQuery(
    queries.runs.verify.queryOptions({ input: { runId: run.runId }, staleTime: 0, gcTime: 0, retry: false }),
  );
  const repair = useMutation({
    mutationFn: async () => {
      onClose();
      await resumeRun(run).catch(sayError);
    },
  });
  const files = verified.data?.files ?? [];
  const amiss = files.filter(({ verdict }) => verdict !== 'sound');
  const canRepair = files.some(
    ({ kind, verdict }) => kind !== 'input' && (verdict === 'damaged' || verdict === 'missing'),
  );
  return (
    <Dialog opened onClose={onClose} title={t('history.verifyTitle', { name: run.name })} size="lg">
      <p style={{ marginTop: 0 }} aria-live="polite">
        {verified.isPending && (
          <>
            <Loader size="xs" aria-hidden /> {t('history.verifying')}
          </>
        )}
        {verified.isError && t('history.verifyFailed')}
        {verified.data &&
          t(verified.data.sound ? 'history.sound' : 'history.notSound', { count: files.length })}
      </p>
      {amiss.length > 0 && (
        <List spacing="xs" mb="md">
          {amiss.map(({ path, kind, verdict, detail }) => (
            <List.Item key={`${kind} ${path}`}>
              <PathText path={path} /> {t(`history.verdict.${verdict}`)}
              {detail !== null && <div className="muted">{detail}</div>}
            </List.Item>
          ))}
        </List>
      )}
      <DialogButtons onClose={onClose} leave="close" isFocused>
        {canRepair && (
          <Button loading={repair.isPending} onClick={() => repair.mutate()}>
            {t('common.repair')}
          </Button>
        )}
      </DialogButtons>
    </Dialog>
  );
}
