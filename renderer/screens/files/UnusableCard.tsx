import { useQuery } from '@tanstack/react-query';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { Card } from '../../components/Card.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { fileName } from '../../i18n/format.ts';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import classes from './Files.module.css';
import { whileInWork } from './whileInWork.ts';

const MOST_SHOWN = 50;

/** The files that the run goes on without, each with its reason. */
export function UnusableCard({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const { data } = useQuery({
    ...queries.runs.inputs.queryOptions({ input: { runId: run.runId, offset: 0, limit: 1 } }),
    ...whileInWork(run),
  });
  if (!data || data.unusable.length === 0) return null;
  const count = data.unusable.length;
  return (
    <Card tone="bad" title={t('files.unusable', { count })}>
      <p className={classes.explain}>{t('files.unusableText')}</p>
      <ul className={classes.failures}>
        {data.unusable.slice(0, MOST_SHOWN).map(({ path, error }) => (
          <li key={path} className={classes.failure}>
            <div className={classes.failureHead}>
              <b title={path}>{fileName(path)}</b>
            </div>
            <ErrorCard error={error} bare />
          </li>
        ))}
      </ul>
      {count > MOST_SHOWN && (
        <p className="muted">{t('files.moreUnusable', { count: count - MOST_SHOWN })}</p>
      )}
    </Card>
  );
}
