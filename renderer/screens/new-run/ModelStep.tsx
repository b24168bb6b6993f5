import { Badge, Button, Checkbox, Group, Radio, Stack, Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useState } from 'react';
import type { ModelStatus } from '../../../electron/contract/index.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Waiting } from '../../components/feedback/Waiting.tsx';
import { modelNotice, modelTitle } from '../../state/computer/modelTexts.ts';
import { useTexts, type Texts } from '../../i18n/index.ts';
import { go } from '../../state/navigation.ts';
import { secondLookOf } from '../../state/newRun/choices.ts';
import { lengthsOfLook } from '../../state/newRun/modelAdvice.ts';
import { type ListedFile, verdictOf } from '../../state/newRun/inspection.ts';
import { choose } from '../../state/newRun/store.ts';
import classes from './Choice.module.css';
import { Step } from './Step.tsx';
import type { NewRunForm } from './useNewRunForm.ts';

export function ModelStep({ form }: { form: NewRunForm }) {
  const texts = useTexts();
  const { t, format } = texts;
  const { models, model, advice, planned, choices } = form;
  const [wanted, setWanted] = useState(false);
  const isHere = ({ present, problem }: ModelStatus) => present && !problem;
  const isDone =
    planned.length > 0 ? planned.every((run) => isHere(run.model)) : model !== null && isHere(model);
  const take = (id: string) => {
    setWanted(false);
    const entry = models.data?.find((each) => each.id === id);
    if (entry && entry.notice !== null) confirmTeaching(texts, entry);
    else choose({ model: id, twoRuns: false });
  };
  const shareOfLook = ({ look, sequences, ofSequences, seconds }: NewRunForm['judged'][number]) =>
    t('modelAdvice.look', {
      look,
      share: format.percent(sequences / ofSequences),
      time: seconds === null ? '' : `, ${format.durationRange(seconds.low, seconds.high)}`,
      advised: look === advice?.look ? 'yes' : 'no',
    });
  const isAdvised = (entry: ModelStatus) =>
    entry.notice === null && advice !== null && entry.chunkLength === lengthsOfLook(advice.look)[0];
  // The model that fits comes first; models with a warning, such as the teaching model, come last.
  const listed = models.data?.toSorted(
    (a, b) =>
      Number(a.notice !== null) - Number(b.notice !== null) || Number(isAdvised(b)) - Number(isAdvised(a)),
  );
  return (
    <Step
      number={2}
      title={t('newRun.model')}
      done={isDone}
      opened={wanted || !isDone}
      onToggle={isDone ? setWanted : undefined}
      summary={
        planned.length > 1
          ? planned.map((run) => `${modelTitle(run.model, texts)}: ${filesOf(texts, run)}`).join(' · ')
          : model && modelTitle(model, texts)
      }
      note={
        <>
          {advice && planned.length < 2 && !form.split && (
            <Text mt={2} maw="76ch" fz="sm" c="dimmed" role="status">
              {t('modelAdvice.judged', { looks: form.judged.map(shareOfLook).join('; ') })}
              {advice.shorter === advice.ofSequences && ` ${t('modelAdvice.tooShort')}`}
            </Text>
          )}
          <TwoRuns form={form} />
          <SecondLook form={form} />
        </>
      }
    >
      {models.error && <ErrorCard error={models.error} />}
      {!models.data && !models.error && <Waiting like="choices" rows={3} />}
      <Radio.Group value={model?.id ?? null} onChange={take} aria-label={t('newRun.model')}>
        <Stack gap={8}>
          {listed?.map((entry) => {
            const title = modelTitle(entry, texts);
            const description =
              entry.notice === null
                ? t(entry.chunkLength <= 300 ? 'newRun.modelShort' : 'newRun.modelLong', {
                    length: entry.chunkLength,
                  })
                : modelNotice(entry, texts);
            const label = isAdvised(entry) ? (
              <Group gap={8}>
                <Text span fw={620}>
                  {title}
                </Text>
                <Badge variant="light" tt="none">
                  {t('modelAdvice.advised')}
                </Badge>
              </Group>
            ) : (
              title
            );
            return (
              <div
                key={entry.id}
                className={entry.notice === null ? classes.choice : classes.plain}
                data-chosen={entry.id === model?.id && !choices.twoRuns}
              >
                {entry.present ? (
                  <Radio
                    classNames={{ labelWrapper: classes.named ?? '' }}
                    value={entry.id}
                    label={label}
                    description={description}
                  />
                ) : (
                  <div className={classes.named}>
                    {label}
                    <Text span fz="sm" c="dimmed">
                      {description}
                    </Text>
                  </div>
                )}
                {!entry.present && (
                  <Button
                    size="compact-sm"
                    style={{ flex: 'none' }}
                    variant={isAdvised(entry) ? 'filled' : 'default'}
                    onClick={() => go({ screen: 'models' })}
                    aria-label={`${t('newRun.getModel')}: ${title}`}
                  >
                    {entry.downloadBytes === null
                      ? t('newRun.getModel')
                      : t('newRun.getModelSize', { size: format.fileSize(entry.downloadBytes) })}
                  </Button>
                )}
              </div>
            );
          })}
        </Stack>
      </Radio.Group>
    </Step>
  );
}

const filesOf = ({ t }: Texts, { files }: { files: readonly ListedFile[] }) =>
  t('common.fileCount', { count: files.filter((file) => verdictOf(file) !== 'blocked').length });

/** For reads and contigs together, offers one run each with the model that fits, in one click. */
function TwoRuns({ form: { split, choices, model } }: { form: NewRunForm }) {
  const texts = useTexts();
  const { t } = texts;
  // Whoever takes the teaching model does not want two others.
  if (!split || (!choices.twoRuns && model !== null && model.notice !== null)) return null;
  return (
    <Group justify="space-between" gap={12} mt={4}>
      <Text span flex="1 1 280px" role="status">
        {t('newRun.mixed', {
          shortFiles: filesOf(texts, split.shorter),
          shortModel: split.shorter.chunkLength,
          longFiles: filesOf(texts, split.longer),
          longModel: split.longer.chunkLength,
        })}
      </Text>
      <Button
        size="compact-sm"
        flex="none"
        variant={choices.twoRuns ? 'default' : 'filled'}
        onClick={() => choose({ twoRuns: !choices.twoRuns })}
      >
        {t(choices.twoRuns ? 'newRun.oneRun' : 'newRun.twoRuns')}
      </Button>
    </Group>
  );
}

/** Offers to look again, in shorter chunks, where a chunk has no open frame. */
function SecondLook({ form: { model, models, choices } }: { form: NewRunForm }) {
  const { t, format } = useTexts();
  const second = model && secondLookOf(model, models.data ?? []);
  if (!model || !second) return null;
  const { length, missing } = second;
  return (
    <Group justify="space-between" gap={12} mt={8}>
      <Checkbox
        flex="1 1 280px"
        checked={missing === null && choices.secondChunkLength === length}
        disabled={missing !== null}
        onChange={({ currentTarget }) => choose({ secondChunkLength: currentTarget.checked ? length : null })}
        label={t('newRun.lookAgain', { first: model.chunkLength, second: length })}
        description={t('newRun.lookAgainHelp', {
          second: length,
          isPublished: model.kind === 'published' ? 'yes' : 'no',
        })}
      />
      {missing && (
        <Button size="compact-sm" flex="none" variant="default" onClick={() => go({ screen: 'models' })}>
          {missing.downloadBytes === null
            ? t('newRun.getModel')
            : t('newRun.getModelSize', { size: format.fileSize(missing.downloadBytes) })}
        </Button>
      )}
    </Group>
  );
}

/** Meaningless numbers must not be mistaken for results. */
function confirmTeaching({ t }: Texts, model: ModelStatus): void {
  modals.openConfirmModal({
    title: t('teaching.confirmTitle'),
    children: t('teaching.confirmText'),
    labels: { confirm: t('teaching.confirm'), cancel: t('common.cancel') },
    onConfirm: () => choose({ model: model.id, twoRuns: false }),
  });
}
