import { Button, Center, Loader, Text } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconClock, IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { ComputerCheck } from '../../../electron/contract/index.ts';
import { useSetUpSize } from '../../components/SetUp.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useEnvironment } from '../../state/computer/environment.ts';
import { useSequenceTexts } from '../../state/engineTexts.ts';
import classes from './ComputerCheck.module.css';

const ICONS = { good: IconCheck, warning: IconAlertTriangle, bad: IconX, waiting: IconClock };

interface LineProps {
  status: ComputerCheck['status'];
  title: string;
  children: ReactNode;
}

export function Line({ status, title, children }: LineProps) {
  const { t } = useTexts();
  const Icon = status === 'checking' ? null : ICONS[status];
  return (
    <li className={classes.line} data-tone={status} aria-label={title}>
      <Center
        component="span"
        style={{ alignSelf: 'start' }}
        {...{ w: 28, h: 28, bdrs: 14, bg: 'var(--tone-soft)', c: 'var(--tone)' }}
        title={t(`checkStatus.${status}`)}
      >
        {Icon ? <Icon size={18} stroke={2.2} aria-hidden /> : <Loader size={16} color="gray" aria-hidden />}
        <span className="visually-hidden">{t(`checkStatus.${status}`)}</span>
      </Center>
      <Text component="h2" fz={15} fw={620}>
        {title}
      </Text>
      {children}
    </li>
  );
}

export function CheckLine({ check, onAct }: { check: ComputerCheck; onAct: () => void }) {
  const { t, lookUp } = useTexts();
  const say = useSequenceTexts();
  const environment = useEnvironment((state) => state.status);
  const size = useSetUpSize(environment && 'plan' in environment ? environment.plan : null);
  /** The size of the download follows a colon, so both appear only once the size is known. */
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
    <Line status={check.status} title={lookUp(`check.${check.id}`) ?? check.title}>
      <p className={classes.sentence}>{sentence}</p>
      {/* A single button above all lines repeats every check. */}
      {kind && kind !== 'check_again' && (
        <Button
          className={classes.action ?? ''}
          size="compact-sm"
          variant={check.status === 'bad' ? 'filled' : 'default'}
          onClick={onAct}
        >
          {t(`checkAction.${kind}`)}
        </Button>
      )}
    </Line>
  );
}
