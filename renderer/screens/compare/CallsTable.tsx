import { Box } from '@mantine/core';
import type { Prediction } from '../../../electron/contract/index.ts';
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
    <Box style={{ overflow: 'auto' }} tabIndex={0} role="group" aria-label={title}>
      <table className="figures">
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">{t('compare.rowsColumns', { first, second })}</th>
            {calls.map((call) => (
              <th key={call} scope="col">
                {nameOf(call)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {calls.map((call) => (
            <tr key={call}>
              <th scope="row">{nameOf(call)}</th>
              {calls.map((other) => (
                <td key={other} data-marked={call === other}>
                  {format.integer(counts[call][other])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Box>
  );
}
