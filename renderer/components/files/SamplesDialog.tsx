import { Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { Dialog } from '../Dialog.tsx';
import { memo, useCallback, useState } from 'react';
import { LIMITS, NO_DETAILS, type NamedSample } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { fileName } from '../../i18n/names.ts';

interface SamplesDialogProps {
  paths: readonly string[];
  /** The sample of every file, in the order of the paths. */
  samples: readonly NamedSample[];
  saving?: boolean;
  /** Called with a sample for every file, or with null to go back to the names derived from file names. */
  onSave: (samples: readonly NamedSample[] | null) => void;
  onClose: () => void;
}

/** Lets the user name the sample of each file, and say its group and whether it is a control; files with the same name form one sample. */
export function SamplesDialog({ paths, samples, saving = false, onSave, onClose }: SamplesDialogProps) {
  const { t } = useTexts();
  const [edited, setEdited] = useState(samples);
  const edit = useCallback(
    (index: number, change: Partial<NamedSample>) =>
      setEdited((before) => before.map((sample, at) => (at === index ? { ...sample, ...change } : sample))),
    [],
  );
  const names = edited.map(({ sample }) => sample.trim());
  const save = () =>
    onSave(
      names.map((sample) => {
        const { group, note, control } = edited[names.indexOf(sample)] ?? NO_DETAILS;
        return { sample, group: group?.trim() || null, note: note?.trim() || null, control };
      }),
    );
  return (
    <Dialog opened onClose={onClose} title={t('samples.edit')} size={860}>
      <Text fz="sm" c="dimmed" mb={12}>
        {t('samples.editText')}
      </Text>
      <Stack gap="sm">
        {paths.map((path, index) => {
          const sample = edited[index];
          return (
            sample && (
              <SampleFields
                key={path + String(index)}
                {...{ index, path, sample }}
                // What a sample is said to be is asked once, at the first of its files.
                isFirst={names.indexOf(names[index] ?? '') === index}
                onChange={edit}
              />
            )
          );
        })}
      </Stack>
      <Group justify="space-between" mt="lg">
        <Button variant="default" onClick={() => onSave(null)}>
          {t('samples.fromNames')}
        </Button>
        <Button loading={saving} disabled={names.includes('')} onClick={save}>
          {t('common.save')}
        </Button>
      </Group>
    </Dialog>
  );
}

interface SampleFieldsProps {
  index: number;
  path: string;
  sample: NamedSample;
  isFirst: boolean;
  onChange: (index: number, change: Partial<NamedSample>) => void;
}

const SampleFields = memo(function SampleFields({
  index,
  path,
  sample,
  isFirst,
  onChange,
}: SampleFieldsProps) {
  const { t } = useTexts();
  const name = fileName(path);
  return (
    <Group role="group" aria-label={name} gap={8} align="end">
      <TextInput
        flex="2 1 200px"
        label={name}
        value={sample.sample}
        maxLength={LIMITS.word}
        onChange={({ currentTarget }) => onChange(index, { sample: currentTarget.value })}
      />
      {isFirst && (
        <>
          <TextInput
            flex="1 1 120px"
            label={t('samples.group')}
            value={sample.group ?? ''}
            maxLength={LIMITS.word}
            onChange={({ currentTarget }) => onChange(index, { group: currentTarget.value })}
          />
          <TextInput
            flex="2 1 160px"
            label={t('samples.note')}
            value={sample.note ?? ''}
            maxLength={LIMITS.note}
            onChange={({ currentTarget }) => onChange(index, { note: currentTarget.value })}
          />
          <Checkbox
            mb={9}
            label={t('samples.control')}
            checked={sample.control}
            onChange={({ currentTarget }) => onChange(index, { control: currentTarget.checked })}
          />
        </>
      )}
    </Group>
  );
});
