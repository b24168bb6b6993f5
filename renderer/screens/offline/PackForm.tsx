import { useQuery } from '@tanstack/react-query';
import { Button, Checkbox, Group, Loader, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ModelStatus, OfflineChoices } from '../../../electron/contract/index.ts';
import { sayError } from '../../state/say.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { DialogButtons } from '../../components/Dialog.tsx';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { closeOffline, isPacking, packOffline, useOffline } from '../../state/computer/offline.ts';
import { chooseFolder } from '../../state/pathChooser.ts';

/** Lets the user choose which GPUs a folder is for, what it contains, and where it is written. */
export function PackForm() {
  const { t } = useTexts();
  const choices = useQuery(queries.computer.offlineChoices.queryOptions({ staleTime: 0 }));
  const models = useQuery(queries.computer.models.queryOptions());
  const error = choices.error ?? models.error;
  if (error) return <ErrorCard error={error} />;
  if (!choices.data || !models.data)
    return (
      <p role="status">
        <Loader size={14} /> {t('common.loading')}
      </p>
    );
  return <Fields choices={choices.data} models={models.data.filter(isOnDisk)} />;
}

/** The teaching model comes with the program, so it is not packed. */
const isOnDisk = (model: ModelStatus) => model.present && model.kind !== 'teaching';

function Fields({ choices, models }: { choices: OfflineChoices; models: readonly ModelStatus[] }) {
  const { t, format } = useTexts();
  const earlier = useOffline((state) => state.packing?.choice);
  const busy = useOffline(isPacking);
  const [gpu, setGpu] = useState(earlier?.gpu ?? choices.gpus[0]?.gpu);
  const [taken, setTaken] = useState(
    earlier?.models ?? models.filter(({ problem }) => problem === null).map(({ id }) => id),
  );
  const [folder, setFolder] = useState(earlier?.folder ?? '');
  const kind = choices.gpus.find((known) => known.gpu === gpu);
  const copy = format.fileSize(bytesOf(models.filter(({ id }) => taken.includes(id))));
  const pick = async () => {
    const chosen = await chooseFolder('pack');
    if (chosen !== null) setFolder(chosen);
  };
  const start = () => {
    if (!kind) return;
    closeOffline();
    void packOffline({
      folder: folder.trim(),
      gpu: kind.gpu,
      models: models.filter(({ id }) => taken.includes(id)).map(({ id }) => id),
    });
  };
  return (
    <Stack
      component="form"
      gap={16}
      onSubmit={(event) => {
        event.preventDefault();
        start();
      }}
    >
      <Select
        label={t('offline.gpu')}
        description={t('offline.gpuHelp')}
        data={choices.gpus.map(({ gpu: value }) => ({ value, label: t(`offline.gpu.${value}`) }))}
        value={gpu ?? null}
        allowDeselect={false}
        onChange={(value) => setGpu(choices.gpus.find((known) => known.gpu === value)?.gpu)}
      />
      <Checkbox.Group label={t('offline.models')} value={taken} onChange={setTaken}>
        <Stack gap={8} mt={8}>
          {models.length === 0 && <span className="muted">{t('offline.noneHere')}</span>}
          {models.map((model) => (
            <Checkbox
              key={model.id}
              value={model.id}
              label={`${model.title} (${format.fileSize(bytesOf([model]))})`}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      <Group gap={8} align="flex-end" wrap="nowrap">
        <TextInput
          flex={1}
          label={t('offline.folder')}
          description={t('offline.folderHelp')}
          value={folder}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => setFolder(event.currentTarget.value)}
        />
        <Button
          variant="default"
          aria-label={`${t('common.choose')}: ${t('offline.folder')}`}
          onClick={() => void pick().catch(sayError)}
        >
          {t('common.choose')}
        </Button>
      </Group>
      <Text maw="72ch" role="status">
        {kind === undefined || kind.downloadBytes === null
          ? t('offline.sizeUnknown', { copy })
          : t('offline.size', { download: format.fileSize(kind.downloadBytes), copy })}
      </Text>
      <DialogButtons onClose={closeOffline}>
        <Button type="submit" disabled={busy || !kind || folder.trim() === ''}>
          {t('offline.pack')}
        </Button>
      </DialogButtons>
    </Stack>
  );
}

/** The size of the chosen models. Language models that several of them share are copied once. */
function bytesOf(models: readonly ModelStatus[]): number {
  const files = new Map(
    models.flatMap(({ files }) => files).map((file) => [file.path ?? file.role, file.sizeBytes]),
  );
  return [...files.values()].reduce((sum, bytes) => sum + bytes, 0);
}
