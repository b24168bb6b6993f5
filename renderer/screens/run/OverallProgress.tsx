import { Card } from '../../components/Card.tsx';
import { Facts } from '../../components/Facts.tsx';
import { ProgressBar } from '../../components/ProgressBar.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useLiveRun } from '../../state/liveRun.ts';
import { isInWork } from '../../state/runs.ts';
import classes from './OverallProgress.module.css';

/** How far the run is by work, how long it has taken and will take, and its two stages apart. */
export function OverallProgress() {
  const { t, format } = useTexts();
  const progress = useLiveRun((state) => state.live?.progress ?? null);
  const run = useLiveRun((state) => state.live?.run ?? null);
  if (!progress || !run) return null;
  const { prepare, parts, residues, inputs, remainingSeconds } = progress;
  const done = run.state.phase === 'done';
  const atWork = isInWork(run);
  const fraction = done ? 1 : progress.fraction;
  const tone = done ? 'good' : atWork ? 'active' : 'warn';
  const readFraction = prepare.finished
    ? 1
    : prepare.bytesTotal > 0
      ? prepare.bytesRead / prepare.bytesTotal
      : null;
  const scoredFraction = residues.total > 0 ? residues.done / residues.total : prepare.finished ? 1 : null;
  const timeLeft = {
    label: t('progress.left'),
    value: remainingSeconds
      ? t('progress.about', { time: format.durationRange(remainingSeconds.low, remainingSeconds.high) })
      : t('progress.leftUnknown'),
  };
  const speed = {
    label: t('progress.speed'),
    value:
      progress.residuesPerSecond === null
        ? '–'
        : t('progress.residuesPerSecond', { speed: format.rate(progress.residuesPerSecond) }),
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
            {
              label: t('progress.parts'),
              value:
                t('common.of', { part: format.integer(parts.done), whole: format.integer(parts.total) }) +
                (prepare.finished ? '' : '+'),
            },
            { label: t('progress.failedParts'), value: format.integer(parts.failed) },
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
          fraction={readFraction}
          finished={prepare.finished}
          text={t('progress.readingText', {
            sequences: format.integer(prepare.records),
            count: prepare.records,
            bases: format.bases(prepare.bases),
          })}
        />
        <Stage
          title={t('progress.scoring')}
          fraction={scoredFraction}
          finished={done || (scoredFraction === 1 && prepare.finished)}
          text={t('progress.scoringText', {
            done: format.compact(progress.frames.done),
            total: format.compact(progress.frames.total),
          })}
        />
      </div>
    </Card>
  );
}

interface StageProps {
  title: string;
  fraction: number | null;
  finished: boolean;
  text: string;
}

function Stage({ title, fraction, finished, text }: StageProps) {
  const { format } = useTexts();
  return (
    <div>
      <div className={classes.stageText}>
        <b>{title}</b>
        <span className="muted">{text}</span>
        <span className={classes.stagePercent}>{fraction === null ? '–' : format.percent(fraction)}</span>
      </div>
      <ProgressBar label={title} fraction={fraction ?? 0} size="thin" tone={finished ? 'good' : 'neutral'} />
    </div>
  );
}
