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
import { choose } from '../../state/newRun/store.ts';
import classes from './Choice.module.css';
import { Step } from './Step.tsx';
import type { NewRunForm } from './useNewRunForm.ts';

export function ModelStep({ form }: { form: NewRunForm }) {
  const texts = useTexts();
  const { t, format } = texts;
  const { models, model, advice } = form;
  const [wanted, setWanted] = useState(false);
  const isDone = model !== null && model.present && !model.problem;
  const take = (id: string) => {
    setWanted(false);
    const entry = models.data?.find((each) => each.id === id);
    if (entry && entry.notice !== null) confirmTeaching(texts, entry);
    else choose({ model: id });
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
      summary={model && modelTitle(model, texts)}
      note={
        <>
          {advice && (model?.notice ?? null) === null && (
            <Text mt={2} maw="110ch" fz="sm" c="dimmed" role="status">
              {t('modelAdvice.judged', { looks: form.judged.map(shareOfLook).join('; ') })}
              {advice.shorter === advice.ofSequences && ` ${t('modelAdvice.tooShort')}`}
            </Text>
          )}
          <SecondLook form={form} />
        </>
      }
    >
      {models.error && <ErrorCard error={models.error} />}
      {!models.data && !models.error && <Waiting rows={3} />}
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
                data-chosen={entry.id === model?.id}
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
    onConfirm: () => choose({ model: model.id }),
  });
}
