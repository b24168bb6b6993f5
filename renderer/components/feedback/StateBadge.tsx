import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleDashed,
  IconCircleX,
  IconClock,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlugX,
  IconProgress,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import type { InputStatus, RunSummary, PartState, WorkerState } from '../../../electron/contract/index.ts';
import { isAtWork } from '../../../electron/contract/runState.ts';
import { useTexts } from '../../i18n/index.ts';
import { useConnectionStatus } from '../../state/connection.ts';
import { type RunStatus, runStatus } from '../../state/runs/runs.ts';
import classes from './StateBadge.module.css';

export type Tone = 'neutral' | 'active' | 'good' | 'warn' | 'bad';
type Icon = ComponentType<{ size?: number; 'aria-hidden'?: boolean }>;
type Look = readonly [tone: Tone, icon: Icon];

/** Shows a state as icon and word, never by colour alone. */
export function Badge({ tone, icon: BadgeIcon, children }: { tone: Tone; icon: Icon; children: string }) {
  return (
    <span className={classes.badge} data-tone={tone}>
      <BadgeIcon size={14} aria-hidden />
      {children}
    </span>
  );
}

const RUN_LOOKS: Record<RunStatus, Look> = {
  created: ['neutral', IconCircleDashed],
  queued: ['neutral', IconClock],
  running: ['active', IconPlayerPlay],
  pausing: ['active', IconProgress],
  draining: ['active', IconProgress],
  paused: ['warn', IconPlayerPause],
  halted: ['bad', IconAlertTriangle],
  finishing: ['active', IconProgress],
  done: ['good', IconCircleCheck],
  done_with_failures: ['warn', IconAlertTriangle],
  failed: ['bad', IconCircleX],
  cancelled: ['neutral', IconCircleX],
  interrupted: ['warn', IconPlugX],
  missing: ['neutral', IconPlugX],
};

export function RunBadge({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const isLost = useConnectionStatus() === 'lost';
  if (isLost && isAtWork(run)) {
    return (
      <Badge tone="neutral" icon={IconPlugX}>
        {t('runState.noAnswer')}
      </Badge>
    );
  }
  const status = runStatus(run);
  const [tone, icon] = RUN_LOOKS[status];
  return (
    <Badge tone={tone} icon={icon}>
      {t(`runState.${status}`)}
    </Badge>
  );
}

const PART_LOOKS: Record<PartState, Look> = {
  pending: ['neutral', IconClock],
  assigned: ['active', IconPlayerPlay],
  done: ['good', IconCircleCheck],
  failed: ['bad', IconAlertTriangle],
  split: ['neutral', IconCircleDashed],
  skipped: ['neutral', IconCircleX],
};

export function PartBadge({ state }: { state: PartState }) {
  const { t } = useTexts();
  const [tone, icon] = PART_LOOKS[state];
  return (
    <Badge tone={tone} icon={icon}>
      {t(`partState.${state}`)}
    </Badge>
  );
}

const INPUT_LOOKS: Record<InputStatus['state'], Look> = {
  waiting: ['neutral', IconClock],
  preparing: ['active', IconProgress],
  working: ['active', IconPlayerPlay],
  done: ['good', IconCircleCheck],
  done_with_failures: ['warn', IconAlertTriangle],
  failed: ['bad', IconCircleX],
};

export function InputBadge({ state }: { state: InputStatus['state'] }) {
  const { t } = useTexts();
  const [tone, icon] = INPUT_LOOKS[state];
  return (
    <Badge tone={tone} icon={icon}>
      {t(`inputState.${state}`)}
    </Badge>
  );
}

const WORKER_LOOKS: Record<WorkerState['state'], Look> = {
  starting: ['neutral', IconProgress],
  loading: ['active', IconProgress],
  idle: ['neutral', IconCircleDashed],
  working: ['active', IconPlayerPlay],
  restarting: ['warn', IconAlertTriangle],
  switched_off: ['bad', IconAlertTriangle],
  excluded: ['neutral', IconCircleX],
  stopped: ['neutral', IconCircleX],
};

export function WorkerBadge({
  state,
  finished = false,
}: {
  state: WorkerState['state'];
  finished?: boolean;
}) {
  const { t } = useTexts();
  if (finished && state === 'stopped') {
    return (
      <Badge tone="good" icon={IconCircleCheck}>
        {t('deviceState.finished')}
      </Badge>
    );
  }
  const [tone, icon] = WORKER_LOOKS[state];
  return (
    <Badge tone={tone} icon={icon}>
      {t(`deviceState.${state}`)}
    </Badge>
  );
}
