import { useQuery } from '@tanstack/react-query';
import { Button, Loader } from '@mantine/core';
import { Dialog, DialogButtons } from '../../components/Dialog.tsx';
import type { OfflineFolder } from '../../../electron/contract/index.ts';
import { sayError } from '../../state/say.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import {
  chooseOfflineFolder,
  closeOffline,
  setUpFromFolder,
  useOffline,
} from '../../state/computer/offline.ts';
import { useSettings } from '../../state/settings.ts';
import { PackForm } from './PackForm.tsx';

/** Rendered on every screen, since a folder may be dropped on any of them. */
export function OfflineDialogs() {
  const { t } = useTexts();
  const dialog = useOffline((state) => state.dialog);
  return (
    <Dialog
      opened={dialog !== null}
      onClose={closeOffline}
      closeOnClickOutside={dialog?.shows !== 'pack'}
      title={t(dialog?.shows === 'pack' ? 'offline.packTitle' : 'offline.useTitle')}
      size="lg"
    >
      {dialog?.shows === 'folder' && <Folder folder={dialog.folder} />}
      {dialog?.shows === 'drop_in_browser' && <DroppedInBrowser />}
      {dialog?.shows === 'pack' && <PackForm />}
    </Dialog>
  );
}

/** Shows what the folder contains, and whether it is for this computer, before anything is done with it. */
function Folder({ folder }: { folder: string }) {
  const { t } = useTexts();
  const found = useQuery(
    // Somebody may have packed the folder again since the last look.
    queries.computer.lookAtOfflineFolder.queryOptions({ input: { folder }, staleTime: 0, gcTime: 0 }),
  );
  const usable = found.data?.state === 'usable' ? found.data : null;
  return (
    <>
      <p style={{ overflowWrap: 'anywhere' }}>
        <b>{folder}</b>
      </p>
      {found.error && <ErrorCard error={found.error} />}
      {!found.data && !found.error && (
        <p role="status">
          <Loader size={14} /> {t('common.loading')}
        </p>
      )}
      {found.data?.state === 'other' && <p>{t('offline.isOther')}</p>}
      {found.data?.state === 'unusable' && <ErrorCard error={found.data.error} />}
      {usable && <Contents found={usable} />}
      <DialogButtons onClose={closeOffline}>
        {found.data && !usable ? (
          <Button onClick={() => void chooseOfflineFolder().catch(sayError)}>{t('offline.another')}</Button>
        ) : (
          <Button disabled={!usable} onClick={() => void setUpFromFolder(folder).catch(sayError)}>
            {t('setUp.start')}
          </Button>
        )}
      </DialogButtons>
    </>
  );
}

function Contents({ found }: { found: Extract<OfflineFolder, { state: 'usable' }> }) {
  const { t, format } = useTexts();
  const { bytes, packedPython, torchBuild, models } = found;
  const what = [
    packedPython === null ? t('offline.noPython') : t('offline.python', { version: packedPython }),
    t('offline.pytorch', { build: torchBuild }),
    ...(models.length > 0 ? models : [t('offline.noModels')]),
  ];
  return (
    <>
      <p>{t('offline.contents', { bytes: format.fileSize(bytes), what: format.list(what) })}</p>
      <p className="muted">{t('offline.nothingFetched')}</p>
    </>
  );
}

function DroppedInBrowser() {
  const { t } = useTexts();
  const info = useSettings((state) => state.info);
  const place = info === null || info.sameComputer ? t('browse.thisComputer') : info.hostName;
  return (
    <>
      <p>{t('offline.browserDrop', { place })}</p>
      <DialogButtons onClose={closeOffline}>
        <Button
          onClick={() => {
            closeOffline();
            chooseOfflineFolder().catch(sayError);
          }}
        >
          {t('newRun.chooseFolder')}
        </Button>
      </DialogButtons>
    </>
  );
}
