import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTexts } from '../../i18n/index.ts';
import classes from './Waiting.module.css';

/** By what is being loaded: one of its rows, or all of it. */
const OUTLINES = {
  table: () => <Cells widths={['34%', '12%', '20%', '10%', '14%']} />,
  fields: () => (
    <div className={classes.field}>
      <Line width="45%" />
      <Skeleton height={34} width="60%" radius={8} />
    </div>
  ),
  choices: () => (
    <div className={classes.choice}>
      <Skeleton circle height={18} />
      <div>
        <Line width="30%" />
        <Line width="55%" thin />
      </div>
    </div>
  ),
  run: () => <RunOutline />,
} satisfies Record<string, () => ReactNode>;

interface WaitingProps {
  like: keyof typeof OUTLINES;
  rows?: number;
}

/** The outline of what is being loaded: nothing jumps when it comes. */
export function Waiting({ like, rows = 1 }: WaitingProps) {
  const { t } = useTexts();
  const Outline = OUTLINES[like];
  return (
    <div className={classes.waiting} role="status">
      <span className="visually-hidden">{t('common.loading')}</span>
      {Array.from({ length: rows }, (_, row) => (
        <Outline key={row} />
      ))}
    </div>
  );
}

/** The dashboard of a run: its share, its figures, its bars, and two charts. */
function RunOutline() {
  return (
    <>
      <div className={classes.card}>
        <div className={classes.figures}>
          <Skeleton height={34} width={96} radius={8} />
          {[72, 96, 84, 60].map((width) => (
            <div key={width}>
              <Line width={width} />
              <Line width={width * 0.7} thin />
            </div>
          ))}
        </div>
        <Skeleton height={14} radius={999} />
      </div>
      <div className={classes.charts}>
        {[1, 2].map((chart) => (
          <div key={chart} className={classes.card}>
            <Line width="30%" />
            {[1, 2, 3, 4].map((tick) => (
              <Skeleton key={tick} height={1} mt={34} />
            ))}
          </div>
        ))}
      </div>
    </>
  );
}

function Cells({ widths }: { widths: readonly string[] }) {
  return (
    <div className={classes.row}>
      {widths.map((width, cell) => (
        <Line key={cell} width={width} />
      ))}
    </div>
  );
}

function Line({ width, thin = false }: { width: string | number; thin?: boolean }) {
  return <Skeleton height={thin ? 8 : 12} mt={thin ? 8 : 0} width={width} radius={999} />;
}
