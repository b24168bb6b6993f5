import { Button, Group, NumberInput, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Dialog, DialogButtons } from '../../components/Dialog.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { PathText } from '../../components/files/PathText.tsx';
import { WorkProgress } from '../../components/WorkProgress.tsx';
import { useTexts } from '../../i18n/index.ts';
import { closeImport, importWeights, useWeights } from '../../state/computer/weights.ts';
import classes from './Models.module.css';

/** Imports files and folders whose published names say what they are for; the rest is asked for here. */
export function ImportDialog({ paths }: { paths: readonly string[] }) {
  const { t } = useTexts();
  const work = useWeights((state) => state.works['import']);
  const [name, setName] = useState('');
  const [length, setLength] = useState<number | null>(null);
  const working = work !== undefined && work.error === null;
  const start = async () => {
    if (await importWeights(paths, name.trim() || undefined, length ?? undefined)) closeImport();
  };
  return (
    <Dialog
      opened
      onClose={closeImport}
      closeOnClickOutside={false}
      title={t('models.importTitle')}
      size="lg"
    >
      <ul className={`plain-list ${classes.files}`}>
        {paths.map((path) => (
          <li key={path}>
            <PathText path={path} />
          </li>
        ))}
      </ul>
      <p>{t('models.byName')}</p>
      <Text fw={620}>{t('models.own')}</Text>
      <Group align="flex-start" mt={4}>
        <NumberInput
          label={t('models.chunkLength')}
          description={t('models.chunkLengthHelp')}
          min={1}
          allowDecimal={false}
          value={length ?? ''}
          onChange={(value) => setLength(typeof value === 'number' ? value : null)}
        />
        <TextInput
          label={t('models.name')}
          description={t('models.nameHelp')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </Group>
      {working && <WorkProgress progress={work.progress} />}
      {work?.error && <ErrorCard error={work.error} />}
      <DialogButtons onClose={closeImport} leave="close">
        <Button loading={working} onClick={() => void start()}>
          {t('models.import')}
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
