import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleDashed,
  IconCircleX,
  IconClock,
  IconFlask,
  IconInfoCircle,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlugX,
  IconProgress,
  IconSearch,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import type { ComputerLink, InputStatus, RunSummary, WorkerState } from '../../../electron/contract/index.ts';
import { isAtWork } from '../../../electron/contract/runState.ts';
import { useTexts } from '../../i18n/index.ts';
import { useConnectionStatus } from '../../state/connection.ts';
import type { FileVerdict } from '../../state/newRun/inspection.ts';
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

/** Marks what a model has made that is not for research. */
export function NotForResearch() {
  return (
    <Badge tone="warn" icon={IconFlask}>
      {useTexts().t('run.notForResearch')}
    </Badge>
  );
}

/** A state of something, by the key of its word. */
type State =
  | `runState.${RunStatus | 'noAnswer'}`
  | `inputState.${InputStatus['state']}`
  | `deviceState.${WorkerState['state'] | 'finished'}`
  | `verdict.${FileVerdict | 'waiting'}`
  | `computers.state.${ComputerLink['state']}`;

const LOOKS: Record<State, Look> = {
  'runState.created': ['neutral', IconCircleDashed],
  'runState.queued': ['neutral', IconClock],
  'runState.running': ['active', IconPlayerPlay],
  'runState.pausing': ['active', IconProgress],
  'runState.draining': ['active', IconProgress],
  'runState.paused': ['warn', IconPlayerPause],
  'runState.halted': ['bad', IconAlertTriangle],
  'runState.finishing': ['active', IconProgress],
  'runState.done': ['good', IconCircleCheck],
  'runState.done_with_failures': ['warn', IconAlertTriangle],
  'runState.failed': ['bad', IconCircleX],
  'runState.cancelled': ['neutral', IconCircleX],
  'runState.interrupted': ['warn', IconPlugX],
  'runState.missing': ['neutral', IconPlugX],
  'runState.noAnswer': ['neutral', IconPlugX],
  'inputState.waiting': ['neutral', IconClock],
  'inputState.preparing': ['active', IconProgress],
  'inputState.working': ['active', IconPlayerPlay],
  'inputState.done': ['good', IconCircleCheck],
  'inputState.done_with_failures': ['warn', IconAlertTriangle],
  'inputState.failed': ['bad', IconCircleX],
  'inputState.replaced': ['neutral', IconCircleX],
  'inputState.accepted': ['neutral', IconCircleX],
  'deviceState.starting': ['neutral', IconProgress],
  'deviceState.loading': ['active', IconProgress],
  'deviceState.idle': ['neutral', IconCircleDashed],
  'deviceState.working': ['active', IconPlayerPlay],
  'deviceState.stalled': ['warn', IconAlertTriangle],
  'deviceState.restarting': ['warn', IconAlertTriangle],
  'deviceState.switched_off': ['bad', IconAlertTriangle],
  'deviceState.excluded': ['neutral', IconCircleX],
  'deviceState.stopped': ['neutral', IconCircleX],
  'deviceState.finished': ['good', IconCircleCheck],
  'verdict.waiting': ['neutral', IconSearch],
  'verdict.looking': ['neutral', IconSearch],
  'verdict.ready': ['good', IconCircleCheck],
  'verdict.warning': ['warn', IconInfoCircle],
  'verdict.skipped': ['warn', IconAlertTriangle],
  'verdict.blocked': ['bad', IconCircleX],
  'computers.state.idle': ['neutral', IconCircleDashed],
  'computers.state.connecting': ['active', IconProgress],
  'computers.state.connected': ['good', IconCircleCheck],
  'computers.state.away': ['warn', IconAlertTriangle],
};

export function StateBadge({ state }: { state: State }) {
  const { t } = useTexts();
  const [tone, icon] = LOOKS[state];
  return (
    <Badge tone={tone} icon={icon}>
      {t(state)}
    </Badge>
  );
}

export function RunBadge({ run }: { run: RunSummary }) {
  const isLost = useConnectionStatus() === 'lost';
  return <StateBadge state={isLost && isAtWork(run) ? 'runState.noAnswer' : `runState.${runStatus(run)}`} />;
}
