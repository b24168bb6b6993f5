import { Button, Loader } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconClock, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isAtWork } from '../../../electron/contract/runState.ts';
import type { ComputerCheck, MeasuredSpeed } from '../../../electron/contract/index.ts';
import { useSetUpSize } from '../../components/SetUp.tsx';
import { CheckPart } from '../../components/CheckPart.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useCopy } from '../../state/clipboard.ts';
import { useEnvironment } from '../../state/computer/environment.ts';
import { queries } from '../../state/connection.ts';
import { useSequenceTexts } from '../../state/engineTexts.ts';
import { useRuns } from '../../state/runs/runs.ts';
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
    <li className={`${classes.line} ${classes[status]}`} aria-label={title}>
      <span className={classes.light} title={t(`checkStatus.${status}`)}>
        {Icon ? <Icon size={18} stroke={2.2} aria-hidden /> : <Loader size={16} color="slate" aria-hidden />}
        <span className="visually-hidden">{t(`checkStatus.${status}`)}</span>
      </span>
      <h2 className={classes.title}>{title}</h2>
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

/** The speed of the devices with the encoders, for which no model is needed. */
export function SpeedLine() {
  const { t, format } = useTexts();
  const tests = useQuery(queries.computer.checks.queryOptions());
  const runIsAtWork = useRuns((state) => state.runs?.some(isAtWork) ?? false);
  const copy = useCopy();
  if (!tests.data) return null;
  const { speed } = tests.data;
  return (
    <Line status={speed ? 'good' : 'waiting'} title={t('speed.title')}>
      <div className={classes.sentence}>
        <CheckPart
          request={{ check: 'speed' }}
          title={t('speed.title')}
          when={speed ? t('speed.measuredAt', { time: format.dateTime(speed.measuredAt) }) : t('speed.never')}
          isDue={false}
          start={t('speed.measure')}
          hindrance={runIsAtWork ? t('speed.runIsAtWork') : null}
          beside={
            speed && (
              <Button
                size="compact-sm"
                variant="default"
                loading={copy.isPending}
                onClick={() => copy.mutate(speed.figures)}
              >
                {t('speed.copy')}
              </Button>
            )
          }
        >
          {speed && <Speeds devices={speed.devices} />}
        </CheckPart>
      </div>
    </Line>
  );
}

function Speeds({ devices }: Pick<MeasuredSpeed, 'devices'>) {
  const { t, format } = useTexts();
  return (
    <ul className="plain-list">
      {devices.map(({ id, name, speed, problem }) => (
        <li key={id}>
          <b>{speed ? `${name}, ${speed.precision.toUpperCase()}` : name}</b>{' '}
          {speed
            ? t(id.startsWith('cpu:') ? 'speed.ofOneCore' : 'speed.ofDevice', {
                residues: format.integer(Math.round(speed.residuesPerSecond)),
                frames: format.integer(Math.round(speed.framesPerSecond)),
                share: format.percent(speed.shareOfProducts, 0),
              })
            : t('speed.notMeasured', { problem: problem ?? '' })}
        </li>
      ))}
    </ul>
  );
}
