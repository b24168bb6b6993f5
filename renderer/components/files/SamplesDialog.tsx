import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTexts } from '../../i18n/index.ts';
import { fileName } from '../../i18n/format.ts';

interface SamplesDialogProps {
  paths: readonly string[];
  names: readonly string[];
  saving?: boolean;
  /** Called with a name for every file, in the order of the paths, or with none to go back to the names derived from file names. */
  onSave: (names: readonly string[]) => void;
  onClose: () => void;
}

/** Lets the user name the sample of each file; files with the same name form one sample. */
export function SamplesDialog({ paths, names, saving = false, onSave, onClose }: SamplesDialogProps) {
  const { t } = useTexts();
  const [edited, setEdited] = useState<readonly string[]>(names);
  return (
    <Modal opened onClose={onClose} title={t('samples.edit')}>
      <Text fz="sm" c="dimmed" mb={12}>
        {t('samples.editText')}
      </Text>
      <Stack gap="xs">
        {paths.map((path, index) => (
          <TextInput
            key={path + String(index)}
            label={fileName(path)}
            value={edited[index] ?? ''}
            maxLength={200}
            onChange={(event) => setEdited(edited.toSpliced(index, 1, event.currentTarget.value))}
          />
        ))}
      </Stack>
      <Group justify="space-between" mt="lg">
        <Button variant="default" onClick={() => onSave([])}>
          {t('samples.fromNames')}
        </Button>
        <Button
          loading={saving}
          disabled={edited.some((name) => name.trim() === '')}
          onClick={() => onSave(edited.map((name) => name.trim()))}
        >
          {t('samples.save')}
        </Button>
      </Group>
    </Modal>
  );
}
