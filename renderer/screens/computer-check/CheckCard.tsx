import { Button, Loader } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconClock, IconX } from '@tabler/icons-react';
import type { ComputerCheck } from '../../../electron/contract/index.ts';
import { useSetUpSize } from '../../components/SetUp.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useSequenceTexts } from '../../state/engineTexts.ts';
import { useEnvironment } from '../../state/computer/environment.ts';
import classes from './ComputerCheck.module.css';

const ICONS = { good: IconCheck, warning: IconAlertTriangle, bad: IconX, waiting: IconClock };

export function CheckCard({ check, onAct }: { check: ComputerCheck; onAct: () => void }) {
  const { t, lookUp } = useTexts();
  const say = useSequenceTexts();
  const Icon = check.status === 'checking' ? null : ICONS[check.status];
  const status = useEnvironment((state) => state.status);
  const size = useSetUpSize(status && 'plan' in status ? status.plan : null);
  /** What is fetched, announced by a colon: only once its size is known. */
  const fetched = (words: string) => (size === null ? [] : [words, size]);
  const kind = check.action?.kind;
  const sentence =
    check.status === 'waiting'
      ? t('check.waiting')
      : kind === 'set_up_python'
        ? [t('setUp.absent'), ...fetched(t('setUp.absentText'))].join(' ')
        : kind === 'repair_python' && check.id === 'python'
          ? [say(check), ...fetched(t('setUp.brokenText'))].join(' ')
          : say(check);
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
