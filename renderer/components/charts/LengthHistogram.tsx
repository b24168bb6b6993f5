import { useTexts } from '../../i18n/index.ts';
import type { LengthBin } from '../../state/newRun/lengthBins.ts';
import { AccessibleChart } from './AccessibleChart.tsx';
import { oneTwoFive } from './chartScale.ts';
import classes from './LengthHistogram.module.css';

interface LengthHistogramProps {
  title: string;
  summary: string;
  bins: readonly LengthBin[];
  /** Sequences shorter than this make one short chunk: a line stands there. */
  chunkLength: number;
}

const HEIGHT = 110;
/** Above the highest bar, for the words beside the line. */
const HEADROOM = 18;
const WIDTH = 1000;

/** Lengths on a logarithmic scale: each bar reaches from its bin's lower edge to its upper one. */
export function LengthHistogram({ title, summary, bins, chunkLength }: LengthHistogramProps) {
  const { t, format } = useTexts();
  const from = Math.max(1, bins[0]?.from ?? 1);
  const to = Math.max(from + 1, bins.at(-1)?.to ?? 10);
  const at = (length: number) => Math.log(Math.max(from, length) / from) / Math.log(to / from);
  const top = Math.max(1, ...bins.map(({ count }) => count));
  const label = (bin: LengthBin) => `${format.bases(bin.from)} – ${format.bases(bin.to)}`;
  return (
    <AccessibleChart
      title={title}
      summary={summary}
      height={HEIGHT + 28}
      table={{
        columns: [title, t('results.sequences')],
        rows: bins.map((bin) => [label(bin), format.integer(bin.count)]),
      }}
    >
      <div className={classes.chart}>
        <span className={classes.top}>{format.integer(top)}</span>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          width="100%"
          height={HEIGHT}
          preserveAspectRatio="none"
          className={classes.bars}
        >
          {bins.map((bin) => {
            const [x, end] = [at(bin.from) * WIDTH, at(bin.to) * WIDTH];
            // A single sequence among thousands must still show.
            const height = bin.count === 0 ? 0 : Math.max(2, (bin.count / top) * (HEIGHT - HEADROOM));
            return (
              <rect
                key={bin.from}
                x={x + 1}
                y={HEIGHT - height}
                width={Math.max(1, end - x - 2)}
                height={height}
                fill={bin.to <= chunkLength ? 'var(--not-scored)' : 'var(--others)'}
              >
                <title>{`${label(bin)}: ${format.integer(bin.count)} ${t('results.sequences')}`}</title>
              </rect>
            );
          })}
        </svg>
        {chunkLength > from && chunkLength < to && (
          <span className={classes.chunk} style={{ left: `${at(chunkLength) * 100}%` }}>
            <span>{t('newRun.chunkLine', { length: format.bases(chunkLength) })}</span>
          </span>
        )}
        {oneTwoFive(from, to).map((tick) => (
          <span key={tick} className={classes.tick} style={{ left: `${at(tick) * 100}%` }}>
            {format.bases(tick)}
          </span>
        ))}
      </div>
    </AccessibleChart>
  );
}
