import { Stack, Text } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { IconFileImport } from '@tabler/icons-react';
import { useTexts } from '../../i18n/index.ts';
import { useChosenComputer } from '../../state/computer/computers.ts';
import { takeDropped } from '../../state/dropped.ts';
import { useNavigation } from '../../state/navigation.ts';
import { isElectron } from '../../state/settings.ts';
import classes from './FileDropZone.module.css';

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
      classNames={{ fullScreen: classes.veil ?? '', inner: classes.inner ?? '' }}
    >
      {/* Only a user who drags a file sees the overlay, although it is always in the page. */}
      <Stack h="100%" gap={4} align="center" justify="center" c="var(--accent)" aria-hidden>
        <IconFileImport size={48} stroke={1.4} />
        <Text fz={22} fw={620} mt={12}>
          {chosen
            ? t('computers.drop', { name: chosen.name })
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
