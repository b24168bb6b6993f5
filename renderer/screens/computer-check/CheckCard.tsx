import { Button, Loader } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconClock, IconX } from '@tabler/icons-react';
import type { ComputerCheck } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import classes from './ComputerCheck.module.css';

const ICONS = { good: IconCheck, warning: IconAlertTriangle, bad: IconX, waiting: IconClock };

export function CheckCard({ check, onAct }: { check: ComputerCheck; onAct: () => void }) {
  const { t, lookUp } = useTexts();
  const Icon = check.status === 'checking' ? null : ICONS[check.status];
  const sentence = check.status === 'waiting' ? t('check.waiting') : check.sentence;
  return (
    <article className={`${classes.check} ${classes[check.status]}`}>
      <span className={classes.light} aria-hidden>
        {Icon ? <Icon size={20} stroke={2.2} /> : <Loader size={18} color="slate" />}
      </span>
      <h2 className={classes.title}>
        {lookUp(`check.${check.id}`) ?? check.title}
        <span className={classes.status}>{t(`checkStatus.${check.status}`)}</span>
      </h2>
      <p className={classes.sentence}>{sentence}</p>
      {check.action && (
        <Button
          className={classes.action ?? ''}
          size="compact-sm"
          variant={check.status === 'bad' ? 'filled' : 'default'}
          onClick={onAct}
        >
          {t(`checkAction.${check.action.kind}`)}
        </Button>
      )}
    </article>
  );
}
