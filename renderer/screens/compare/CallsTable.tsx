import type { Prediction } from '../../../electron/contract/index.ts';
import { Figures } from '../../components/table/Figures.tsx';
import { useTexts } from '../../i18n/index.ts';

/** Counts the pairs of calls of what is in both, with the calls of the first in rows and of the second in columns. */
export function CallsTable<Call extends Prediction>(props: {
  title: string;
  first: string;
  second: string;
  calls: readonly Call[];
  counts: Record<Call, Record<Call, number>>;
}) {
  const { title, first, second, calls, counts } = props;
  const { t, format } = useTexts();
  const nameOf = (call: Prediction) => t(`prediction.${call}`);
  return (
    <Figures
      title={title}
      head={[t('compare.rowsColumns', { first, second }), ...calls.map(nameOf)]}
      rows={calls.map((call) => [
        nameOf(call),
        ...calls.map((other) => {
          const count = format.integer(counts[call][other]);
          return call === other ? <b key={other}>{count}</b> : count;
        }),
      ])}
    />
  );
}
