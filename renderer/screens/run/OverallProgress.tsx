import { isAtWork } from '../../../electron/contract/runState.ts';
import type { RunProgress } from '../../../electron/contract/index.ts';
import { Card } from '../../components/Card.tsx';
import { Facts } from '../../components/Facts.tsx';
import { ProgressBar } from '../../components/ProgressBar.tsx';
import { useTexts } from '../../i18n/index.ts';
import { sequencesPerMinute, useLiveRun } from '../../state/liveRun.ts';
import classes from './OverallProgress.module.css';

/** How far the run is by work, how long it has taken and will take, and its two stages apart. */
export function OverallProgress() {
  const { t, format } = useTexts();
  const progress = useLiveRun((state) => state.live?.progress ?? null);
  const run = useLiveRun((state) => state.live?.run ?? null);
  if (!progress || !run) return null;
  const { prepare, parts, inputs, remainingSeconds } = progress;
  const done = run.state.phase === 'done';
  const atWork = isAtWork(run);
  const fraction = done ? 1 : progress.fraction;
  const tone = done ? 'good' : atWork ? 'active' : 'warn';
  const stages = stageFractions(progress);
  const timeLeft = {
    label: t('progress.left'),
    value: remainingSeconds
      ? t('progress.about', { time: format.durationRange(remainingSeconds.low, remainingSeconds.high) })
      : t('progress.leftUnknown'),
  };
  const perMinute = sequencesPerMinute(progress.residuesPerSecond, progress);
  const speed = {
    label: t('progress.speed'),
    value: perMinute === null ? '–' : t('progress.sequencesPerMinute', { speed: format.rate(perMinute) }),
  };
  return (
    <Card>
      <div className={classes.top}>
        <span className={classes.percent}>
          {fraction === null ? '–' : format.percent(fraction, fraction < 1 ? 1 : 0)}
        </span>
        <Facts
          items={[
            { label: t('progress.elapsed'), value: format.duration(progress.elapsedSeconds) },
            ...(atWork ? [timeLeft, speed] : []),
            {
              label: t('progress.files'),
              value: t('common.of', {
                part: format.integer(inputs.done),
                whole: format.integer(inputs.total),
              }),
            },
            ...(parts.failed > 0
              ? [{ label: t('progress.failedParts'), value: format.integer(parts.failed) }]
              : []),
          ]}
        />
      </div>
      <ProgressBar
        label={t('progress.overall')}
        fraction={fraction}
        size="large"
        tone={tone}
        valueText={fraction === null ? t('progress.leftUnknown') : format.percent(fraction)}
      />
      <div className={classes.stages}>
        <Stage
          title={t('progress.reading')}
          fraction={stages.read}
          finished={prepare.finished}
          text={t('progress.readingText', {
            sequences: format.integer(prepare.records),
            count: prepare.records,
            bases: format.bases(prepare.bases),
          })}
        />
        <Stage
          title={t('progress.scoring')}
          fraction={stages.scored}
          finished={done || stages.scored === 1}
        />
      </div>
    </Card>
  );
}

/** How far the two stages are, each null while that cannot be said. */
function stageFractions({ prepare, residues }: RunProgress): { read: number | null; scored: number | null } {
  const share = (done: number, total: number) => (total > 0 ? done / total : null);
  if (!prepare.finished)
    return {
      read: share(prepare.bytesRead, prepare.bytesTotal),
      scored: share(Math.min(residues.done, residues.total * 0.999), residues.total),
    };
  return { read: 1, scored: share(residues.done, residues.total) ?? 1 };
}

interface StageProps {
  title: string;
  fraction: number | null;
  finished: boolean;
  text?: string;
}

function Stage({ title, fraction, finished, text }: StageProps) {
  const { format } = useTexts();
  return (
    <div>
      <div className={classes.stageText}>
        <b>{title}</b>
        {text !== undefined && <span className="muted">{text}</span>}
        <span className={classes.stagePercent}>{fraction === null ? '–' : format.percent(fraction)}</span>
      </div>
      <ProgressBar label={title} fraction={fraction ?? 0} size="thin" tone={finished ? 'good' : 'neutral'} />
    </div>
  );
}
