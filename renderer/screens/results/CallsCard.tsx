import type { z } from 'zod';
import type { resultCountsSchema } from '../../../electron/contract/index.ts';
import { Skeleton } from '@mantine/core';
import { Card } from '../../components/Card.tsx';
import { useTexts } from '../../i18n/index.ts';
import classes from './ResultsTab.module.css';

type Counts = z.infer<typeof resultCountsSchema>;

/** How many sequences got which call. */
export function CallsCard({ counts }: { counts: Counts | null }) {
  const { t, format } = useTexts();
  if (!counts) return <Skeleton height={210} />;
  const calls = [
    { key: 'virus', count: counts.virus, color: 'var(--virus)' },
    { key: 'others', count: counts.others, color: 'var(--others)' },
    { key: 'not_scored', count: counts.notScored, color: 'var(--not-scored)' },
    { key: 'failed', count: counts.failed, color: 'var(--failed)' },
  ] as const;
  return (
    <Card title={t('results.calls')} aside={t('results.ofSequences', { count: counts.total })}>
      <div className={classes.composition} aria-hidden>
        {calls
          .filter((call) => call.count > 0)
          .map((call) => (
            <span key={call.key} style={{ background: call.color, flexGrow: call.count }} />
          ))}
      </div>
      <ul className={classes.calls}>
        {calls.map((call) => (
          <li key={call.key} className={classes.call}>
            <span className={classes.swatch} style={{ background: call.color }} aria-hidden />
            <span className={classes.callCount}>{format.integer(call.count)}</span>
            <span className={classes.callLabel}>
              {t(`prediction.${call.key}`)}
              {counts.total > 0 && ` · ${format.percent(call.count / counts.total, 1)}`}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
