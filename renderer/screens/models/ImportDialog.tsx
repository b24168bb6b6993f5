import { useQuery } from '@tanstack/react-query';
import { Button, Group, Loader, NumberInput, Text, TextInput } from '@mantine/core';
import { Dialog, DialogButtons } from '../../components/Dialog.tsx';
import { useState } from 'react';
import type { FoundWeights } from '../../../electron/contract/index.ts';
import { Banner } from '../../components/feedback/Banner.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { fileName } from '../../i18n/names.ts';
import { useTexts } from '../../i18n/index.ts';
import { useEngineTexts } from '../../state/engineTexts.ts';
import { closeImport, importWeights, lookQuery, useWeights } from '../../state/computer/weights.ts';
import classes from './Models.module.css';
import { WorkProgress } from '../../components/WorkProgress.tsx';

/** Shows what the files are and which models can be made from them, and imports those. */
export function ImportDialog({ paths }: { paths: readonly string[] }) {
  const { t } = useTexts();
  const found = useQuery(lookQuery(paths));
  return (
    <Dialog
      opened
      onClose={closeImport}
      closeOnClickOutside={false}
      title={t('models.importTitle')}
      size="lg"
    >
      {found.error && <ErrorCard error={found.error} />}
      {!found.data && !found.error && (
        <p role="status">
          <Loader size={14} /> {t('models.looking')}
        </p>
      )}
      {found.data && <Import paths={paths} found={found.data} />}
    </Dialog>
  );
}

/** The parts of a model, and where each of them is. */
function Checklist({ found }: { found: FoundWeights }) {
  const { t } = useTexts();
  const kinds = new Set<string>([...found.encoders, ...found.files.map(({ kind }) => kind)]);
  // Parts that are already on this computer do not count as missing.
  const isWhole = found.models.length > 0 && found.models.every(({ missing }) => missing.length === 0);
  return (
    <>
      <p>{t('models.expected')}</p>
      <ul className={`plain-list ${classes.files}`}>
        {(['esm2', 'dnabert_s', 'tokenizer', 'head'] as const).map((role) => {
          const isAmong = kinds.has(role);
          return (
            <li key={role}>
              <span aria-hidden>{isAmong || isWhole ? '✓' : '–'}</span> {t(`models.role.${role}`)}:{' '}
              {t(isAmong ? 'models.among' : isWhole ? 'models.hereAlready' : 'models.notAmong')}
            </li>
          );
        })}
      </ul>
    </>
  );
}

function Import({ paths, found }: { paths: readonly string[]; found: FoundWeights }) {
  const { t, format } = useTexts();
  const say = useEngineTexts();
  const work = useWeights((state) => state.works['import']);
  const [only] = found.models.length === 1 ? found.models : [];
  const isNamed = only !== undefined && only.published === null;
  const [name, setName] = useState(only?.name ?? '');
  const [length, setLength] = useState<number | null>(only?.chunkLength ?? null);
  const working = work !== undefined && work.error === null;
  const problems = [
    ...found.models.flatMap(({ head, missing, problem }) =>
      problem
        ? [problem]
        : missing.length > 0
          ? [t('models.missing', { head: fileName(head), what: missing.join(', ') })]
          : [],
    ),
    ...found.problems,
  ];
  const isUseful = found.models.length > 0 || found.encoders.length > 0;
  const isReady =
    isUseful &&
    found.models.every(({ missing, problem }) => problem === null && missing.length === 0) &&
    (!isNamed || (name.trim() !== '' && length !== null));
  const start = async () => {
    const done = await (isNamed
      ? importWeights(paths, name.trim(), length ?? undefined)
      : importWeights(paths));
    if (done) closeImport();
  };
  return (
    <>
      <ul className={`plain-list ${classes.files}`}>
        {found.files.map((file) => (
          <li key={file.path}>
            <b>{t(`models.kind.${file.kind}`)}</b>{' '}
            <span className="muted" title={file.path}>
              {fileName(file.path)} · {format.fileSize(file.sizeBytes)}
            </span>
            {file.note && (
              <Text component="div" fz="sm" c="dimmed">
                {say({ text: file.note, wording: file.noteWording })}
              </Text>
            )}
          </li>
        ))}
      </ul>
      <Checklist found={found} />
      {problems.map((problem) => (
        <Banner key={problem} tone="warn" title={problem} />
      ))}
      {!isUseful && problems.length === 0 && <Banner tone="warn" title={t('models.nothing')} />}
      {isUseful && found.models.length === 0 && <p>{t('models.encodersOnly')}</p>}
      {only?.published && <p>{t('models.isPublished', { name: only.published })}</p>}
      {isNamed && (
        <Group align="flex-start" mt="md">
          <TextInput
            label={t('models.name')}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <NumberInput
            label={t('models.chunkLength')}
            description={t('models.chunkLengthHelp')}
            min={1}
            allowDecimal={false}
            value={length ?? ''}
            onChange={(value) => setLength(typeof value === 'number' ? value : null)}
          />
        </Group>
      )}
      {working && <WorkProgress progress={work.progress} />}
      {work?.error && <ErrorCard error={work.error} />}
      <DialogButtons onClose={closeImport} leave="close">
        <Button disabled={!isReady} loading={working} onClick={() => void start()}>
          {t('models.import')}
        </Button>
      </DialogButtons>
    </>
  );
}
