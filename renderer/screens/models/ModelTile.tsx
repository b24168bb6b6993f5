import { useMutation } from '@tanstack/react-query';
import { Button, Group, Text } from '@mantine/core';
import { Dialog, DialogButtons } from '../../components/Dialog.tsx';
import type { ModelStatus } from '../../../electron/contract/index.ts';
import { DESTRUCTIVE } from '../../styles/theme.ts';
import { useTexts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';
import { askAgain } from '../../state/queryClient.ts';
import { IconAlertTriangle, IconCircleCheck, IconDownload, IconPlayerPause } from '@tabler/icons-react';
import { useState } from 'react';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Fold } from '../../components/Fold.tsx';
import { Hint } from '../../components/Hint.tsx';
import { hashOfRoute } from '../../state/navigation.ts';
import { sayError } from '../../state/say.ts';
import { PathText } from '../../components/files/PathText.tsx';
import { Badge } from '../../components/feedback/StateBadge.tsx';
import { modelNotice, modelTitle } from '../../state/computer/modelTexts.ts';
import { getWeights, pauseWeights, useWeights, verifyModel } from '../../state/computer/weights.ts';
import classes from './Models.module.css';
import { WorkProgress } from '../../components/WorkProgress.tsx';

/** A model: what it is for, where it is, whether it can be relied on, and everything that can be done with it. */
export function ModelTile({ model }: { model: ModelStatus }) {
  const texts = useTexts();
  const { t, format } = texts;
  const title = modelTitle(model, texts);
  const work = useWeights((state) => state.works[model.id]);
  const [removing, setRemoving] = useState(false);
  const working = work !== undefined && work.error === null;
  const canGet = model.kind === 'published' && (!model.present || model.problem !== null);
  const get =
    model.fetchedBytes > 0
      ? t('common.continue')
      : t('newRun.getModelSize', { size: format.fileSize(model.downloadBytes ?? 0) });
  const name = (action: string) => `${action}: ${title}`;
  const purpose = { length: model.chunkLength };
  return (
    <li className={classes.tile} aria-label={title}>
      <Group gap="6px 12px" className={classes.name ?? ''}>
        <Text component="h2" fz={17} fw={620}>
          {title}
        </Text>
        {model.problem ? (
          <Badge tone="bad" icon={IconAlertTriangle}>
            {t('computer.modelDamaged')}
          </Badge>
        ) : (
          model.present && (
            <Badge tone="good" icon={IconCircleCheck}>
              {t('computer.modelPresent')}
            </Badge>
          )
        )}
      </Group>
      <Text maw="80ch">
        {model.problem?.cause ??
          (model.notice === null
            ? t(model.chunkLength <= 300 ? 'newRun.modelShort' : 'newRun.modelLong', purpose)
            : modelNotice(model, texts))}
      </Text>
      <Text c="dimmed">
        <SizeText model={model} />
      </Text>
      {canGet && !work?.error && (
        <div className={classes.action}>
          <Button
            size="compact-sm"
            variant={working ? 'default' : 'filled'}
            leftSection={
              working ? <IconPlayerPause size={16} aria-hidden /> : <IconDownload size={16} aria-hidden />
            }
            onClick={() => void (working ? pauseWeights(model.id).catch(sayError) : getWeights(model.id))}
            aria-label={name(working ? t('models.pause') : get)}
          >
            {working ? t('models.pause') : get}
          </Button>
        </div>
      )}
      {working && <WorkProgress progress={work.progress} />}
      {work?.error && (
        <ErrorCard
          error={work.error}
          actions={
            <Button size="compact-sm" onClick={() => void (canGet ? getWeights : verifyModel)(model.id)}>
              {t('common.tryAgain')}
            </Button>
          }
        />
      )}
      {model.present && !model.problem && (
        <a className={classes.action} href={hashOfRoute({ screen: 'computer' })}>
          {t('models.check')}
        </a>
      )}
      <div>
        <Fold title={t('models.details')}>
          <Details model={model} />
          {model.present && (
            <Group gap="sm" mt="sm">
              <Button
                size="compact-sm"
                variant="default"
                disabled={working}
                onClick={() => void verifyModel(model.id)}
                aria-label={name(t('models.verify'))}
              >
                {t('models.verify')}
              </Button>
              {model.kind !== 'teaching' && (
                <Button
                  size="compact-sm"
                  variant="default"
                  disabled={working}
                  onClick={() => setRemoving(true)}
                  aria-label={name(t('common.remove'))}
                >
                  {t('common.remove')}
                </Button>
              )}
            </Group>
          )}
        </Fold>
      </div>
      {removing && <RemoveDialog model={model} onClose={() => setRemoving(false)} />}
    </li>
  );
}

function SizeText({ model }: { model: ModelStatus }) {
  const { t, format } = useTexts();
  if (model.sizeBytes !== null) {
    const size = t('models.size', { size: format.fileSize(model.sizeBytes) });
    if (model.sharedWith.length === 0) return size;
    return (
      <Hint label={t('models.shares', { titles: model.sharedWith.join(', ') })}>
        <span tabIndex={0}>{size}</span>
      </Hint>
    );
  }
  const size = format.fileSize(model.downloadBytes ?? 0);
  return model.fetchedBytes > 0
    ? t('models.partly', { part: format.fileSize(model.fetchedBytes), size })
    : t('models.toFetch', { size });
}

function Details({ model }: { model: ModelStatus }) {
  const { t, format } = useTexts();
  return (
    <>
      <Group component="p" gap={6} my={8}>
        {t('models.place')} <PathText path={model.folder} />
      </Group>
      {model.kind === 'teaching' && (
        <a href={hashOfRoute({ screen: 'guide', page: 'MODEL_CARD' })}>{t('models.card')}</a>
      )}
      <ul className={`plain-list ${classes.files}`}>
        {model.files.map((file) => (
          <li key={file.role}>
            <b>{t(`models.role.${file.role}`)}</b>{' '}
            <span className="muted">
              {[
                format.fileSize(file.sizeBytes),
                ...(file.license === null ? [] : [t('models.license', { license: file.license })]),
              ].join(' · ')}
            </span>
            {file.source && (
              <Text component="div" fz="sm" c="dimmed">
                {file.source}
              </Text>
            )}
            {file.citation && (
              <Text component="div" fz="sm" c="dimmed">
                {file.citation}
              </Text>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Lists what is removed, how much space that frees, and what stays because other models use it. */
function RemoveDialog({ model, onClose }: { model: ModelStatus; onClose: () => void }) {
  const { t, format } = useTexts();
  const remove = useMutation({
    mutationFn: () => engine.computer.removeModel({ model: model.id }),
    onSettled: onClose,
    onSuccess: () => askAgain(),
  });
  return (
    <Dialog opened onClose={onClose} title={t('models.removeTitle', { title: model.title })}>
      <p>{t('models.removeFrees', { size: format.fileSize(model.freesBytes) })}</p>
      {model.sharedWith.length > 0 && (
        <p>{t('models.removeKeeps', { titles: model.sharedWith.join(', ') })}</p>
      )}
      <p className="muted">{t('models.removeRuns')}</p>
      <DialogButtons onClose={onClose} isFocused>
        <Button {...DESTRUCTIVE} loading={remove.isPending} onClick={() => remove.mutate()}>
          {t('common.remove')}
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
