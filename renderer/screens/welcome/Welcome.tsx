import { useMutation } from '@tanstack/react-query';
import { Button, Group, Modal } from '@mantine/core';
import { IconDeviceDesktopCheck, IconDna2, IconPlayerPlay } from '@tabler/icons-react';
import { useState } from 'react';
import { useTexts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';
import { go, goToRun } from '../../state/navigation.ts';
import { changeSettings, useSettings } from '../../state/settings.ts';
import classes from './Welcome.module.css';

const STEPS = [
  { key: 'what', icon: IconDna2 },
  { key: 'computer', icon: IconDeviceDesktopCheck },
  { key: 'example', icon: IconPlayerPlay },
] as const;

const seen = () => changeSettings({ welcomeSeen: true });

/** The first start, in three short steps that can be skipped. */
export function Welcome() {
  const { t } = useTexts();
  const opened = useSettings((state) => state.settings?.welcomeSeen === false);
  const [position, setPosition] = useState(0);
  const close = useMutation({ mutationFn: seen });
  const example = useMutation({
    mutationFn: async () => {
      const { runId } = await engine.runs.runExample();
      await seen();
      goToRun(runId);
    },
  });
  const step = STEPS[position] ?? STEPS[0];
  const Icon = step.icon;
  const toComputerCheck = () => {
    close.mutate();
    go({ screen: 'computer' });
  };
  return (
    <Modal
      opened={opened}
      onClose={() => close.mutate()}
      size={560}
      withCloseButton={false}
      title={t('welcome.title')}
      classNames={{ header: 'visually-hidden' }}
      onExitTransitionEnd={() => setPosition(0)}
    >
      <div className={classes.body}>
        <Icon className={classes.icon} size={56} stroke={1.2} aria-hidden />
        <p className={classes.count}>{t('welcome.step', { number: position + 1, count: STEPS.length })}</p>
        <h2 className={classes.title}>{t(`welcome.${step.key}.title`)}</h2>
        <p className={classes.text}>{t(`welcome.${step.key}.text`)}</p>
      </div>
      <Group justify="space-between" mt="xl">
        <Button variant="subtle" color="slate" onClick={() => close.mutate()}>
          {t('welcome.skip')}
        </Button>
        <Group gap="sm">
          {step.key === 'computer' && (
            <Button variant="default" onClick={toComputerCheck}>
              {t('welcome.checkNow')}
            </Button>
          )}
          {step.key === 'example' ? (
            <Button loading={example.isPending} onClick={() => example.mutate()}>
              {t('newRun.runExample')}
            </Button>
          ) : (
            <Button data-autofocus onClick={() => setPosition(position + 1)}>
              {t('welcome.next')}
            </Button>
          )}
        </Group>
      </Group>
    </Modal>
  );
}
