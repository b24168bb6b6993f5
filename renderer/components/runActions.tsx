import { useQuery } from '@tanstack/react-query';
import { modals } from '@mantine/modals';
import {
  IconArrowsDiff,
  IconCpu,
  IconPlayerPlay,
  IconRepeat,
  IconShieldCheck,
  IconTag,
  IconTerminal2,
  IconTrash,
  type Icon,
} from '@tabler/icons-react';
import { isAtWork, predictCommand, type RunSummary } from '../../electron/contract/index.ts';
import { useTexts, type Texts } from '../i18n/index.ts';
import { Guarded } from './feedback/Guarded.tsx';
import { copyText } from '../state/clipboard.ts';
import { engine, queries } from '../state/connection.ts';
import { go } from '../state/navigation.ts';
import { prepareAgain } from '../state/newRun/prepareAgain.ts';
import { useLiveRun } from '../state/runs/liveRun.ts';
import { openRunDialog, type RunDialog } from '../state/runs/runDialog.ts';
import { resumeRun, runStatus } from '../state/runs/runs.ts';
import { say, sayError } from '../state/say.ts';
import { DESTRUCTIVE } from '../styles/theme.ts';

export interface RunAction {
  readonly id: string;
  readonly label: string;
  readonly icon: Icon;
  readonly run: () => void;
}

const RESTING = ['paused', 'halted', 'interrupted', 'failed', 'cancelled', 'queued'];

/** What the menus offer for a run in its current state; each shows a part. */
export function runActions(
  run: RunSummary,
  texts: Texts,
  onDialog = (dialog: RunDialog) => openRunDialog(run.runId, dialog),
): RunAction[] {
  const { t } = texts;
  const { runId } = run;
  const status = runStatus(run);
  const action = (when: boolean, id: string, label: string, icon: Icon, act: () => unknown): RunAction[] =>
    when ? [{ id, label, icon, run: () => void Promise.resolve(act()).catch(sayError) }] : [];
  const isResting = RESTING.includes(status);
  const isQueued = status === 'queued';
  const hasFolder = !run.missing && !isQueued;
  const isStill = !isAtWork(run);
  const dialog = (name: RunDialog) => () => onDialog(name);
  return [
    ...action(isResting, 'continue', t(isQueued ? 'run.startNow' : 'common.continue'), IconPlayerPlay, () =>
      resumeRun(run),
    ),
    ...action(isResting, 'continue-elsewhere', t('run.continueElsewhere'), IconCpu, dialog('devices')),
    ...action(hasFolder, 'compare', t('compare.open'), IconArrowsDiff, () =>
      go({ screen: 'compare', runId, otherRunId: null }),
    ),
    ...action(true, 'again', t('run.again'), IconRepeat, () => prepareAgain(run)),
    ...action(true, 'command', t('results.copyCommand'), IconTerminal2, () =>
      copyText(predictCommand(run)).then(() => say(t('common.copied'))),
    ),
    ...action(true, 'annotate', t('history.annotate'), IconTag, dialog('annotate')),
    ...action(isStill && !run.missing, 'verify', t('history.verify'), IconShieldCheck, dialog('verify')),
    ...action(isStill, 'delete', t('history.delete'), IconTrash, dialog('delete')),
  ];
}

/** The actions that a menu shows, in its order. */
export const actionsOf = (actions: readonly RunAction[], ids: readonly string[]): RunAction[] =>
  ids.flatMap((id) => actions.filter((action) => action.id === id));

/** What the run has computed, what would be missing, and what happens to both. */
function FinishNowQuestion({ runId }: { runId: string }) {
  const { t } = useTexts();
  const found = useQuery(queries.results.counts.queryOptions({ input: { runId, filter: {} } })).data?.total;
  const live = useLiveRun((state) => (state.live?.run.runId === runId ? state.live : null));
  const known = live?.progress.prepare.records ?? 0;
  return (
    <>
      {live && found !== undefined && (
        <p>
          {t('run.finishNowCounts', {
            found,
            known,
            missing: Math.max(0, known - found),
            done: live.progress.inputs.done,
            files: live.progress.inputs.total,
          })}
        </p>
      )}
      <p>{t('run.finishNowHelp')}</p>
    </>
  );
}

/** Asks whether a run should end with what it has computed. */
export function askToFinishNow(runId: string, t: Texts['t']): void {
  modals.openConfirmModal({
    title: t('run.finishNowTitle'),
    children: (
      <Guarded>
        <FinishNowQuestion runId={runId} />
      </Guarded>
    ),
    labels: { confirm: t('run.finishNow'), cancel: t('common.cancel') },
    onConfirm: () => void engine.runs.finishNow({ runId }).catch(sayError),
  });
}

/** Asks whether to discard a run at work with everything that it has computed, and discards it. */
export function askToDiscard(runId: string, t: Texts['t']): void {
  const discard = async () => {
    await engine.runs.cancel({ runId });
    await engine.runs.remove({ runId, files: 'all' });
    go({ screen: 'runs' });
  };
  modals.openConfirmModal({
    title: t('run.discardTitle'),
    children: t('run.discardHelp'),
    labels: { confirm: t('run.discard'), cancel: t('common.cancel') },
    confirmProps: DESTRUCTIVE,
    onConfirm: () => void discard().catch(sayError),
  });
}
