import { Stack, Text } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { IconFileImport } from '@tabler/icons-react';
import { useTexts } from '../../i18n/index.ts';
import { useChosenComputer } from '../../state/computer/computers.ts';
import { takesOfflineDrop, takesOfflineFolder } from '../../state/computer/offline.ts';
import { importDropped } from '../../state/computer/weights.ts';
import { home } from '../../state/connection.ts';
import { go, useNavigation } from '../../state/navigation.ts';
import { addDropped } from '../../state/newRun/store.ts';
import { addDroppedTables, isTable } from '../../state/results/otherTables.ts';
import { sayError } from '../../state/say.ts';
import type { Dropped } from '../../state/upload.ts';
import { isElectron } from '../../state/settings.ts';

/** Accepts files anywhere in the window. The overlay shows only while files are dragged over it. */
export function FileDropZone() {
  const { t } = useTexts();
  const chosen = useChosenComputer();
  const takesWeights = useNavigation(({ route }) => route.screen === 'models');
  return (
    <Dropzone.FullScreen
      onDrop={(files) => void takeDropped(files)}
      // Nobody types into this input: buttons open the file chooser.
      inputProps={{ 'aria-hidden': true, tabIndex: -1 }}
      {...(isElectron() && { getFilesFromEvent: filesAsDropped })}
      styles={{
        fullScreen: { padding: 24, background: 'color-mix(in srgb, var(--page) 88%, transparent)' },
        inner: { height: '100%' },
      }}
    >
      {/* Only a user who drags a file sees the overlay, although it is always in the page. */}
      <Stack h="100%" gap={4} align="center" justify="center" c="var(--accent)" aria-hidden>
        <IconFileImport size={48} stroke={1.4} />
        <Text fz={22} fw={620} mt={12}>
          {chosen
            ? t('computers.drop', { name: chosen.address })
            : t(takesWeights ? 'models.drop' : 'drop.title')}
        </Text>
        <Text c="dimmed">{t(takesWeights ? 'models.dropFormats' : 'drop.formats')}</Text>
      </Stack>
    </Dropzone.FullScreen>
  );
}

/** In Electron a folder stays a folder: the engine reads it from disk itself. A browser has to send the files inside. */
const filesAsDropped = (event: unknown): Promise<File[]> => Promise.resolve(filesOf(event));

function filesOf(event: unknown): File[] {
  const transfer = (event as Partial<Pick<DragEvent, 'dataTransfer'>>).dataTransfer;
  return Array.from(transfer?.files ?? []);
}

/** Handles what was dropped on the window: a folder to set up from, weights if models are shown, tables of other tools if results are
 * shown, else sequences. */
export async function takeDropped(files: readonly File[]): Promise<void> {
  try {
    const dropped = await whatWasDropped(files);
    const isOffline =
      dropped.kind === 'files' ? takesOfflineDrop(dropped.files) : await takesOfflineFolder(dropped.paths);
    if (isOffline) return;
    const { route } = useNavigation.getState();
    const names = dropped.kind === 'files' ? dropped.files.map(({ name }) => name) : dropped.paths;
    const takesTables =
      route.screen === 'compare' ||
      (route.screen === 'run' && (route.tab === 'results' || route.tab === 'tools'));
    if (takesTables && names.every(isTable)) {
      await addDroppedTables(route.runId, dropped);
      return;
    }
    if (route.screen === 'models') {
      await importDropped(dropped);
      return;
    }
    go({ screen: 'new-run' });
    await addDropped(dropped);
  } catch (reason) {
    sayError(reason);
  }
}

async function whatWasDropped(files: readonly File[]): Promise<Dropped> {
  const bridge = window.virnucpro;
  if (!isElectron() || !bridge) return { kind: 'files', files };
  const paths = files.map((file) => bridge.pathForFile(file)).filter((path) => path !== '');
  await home.shell.grantPaths({ paths });
  return { kind: 'paths', paths };
}
