import { ActionIcon, Tooltip } from '@mantine/core';
import { IconChartHistogram, IconCopy, IconTable } from '@tabler/icons-react';
import { useDeferredValue, useId, useState, type ReactNode } from 'react';
import { useTexts } from '../../i18n/index.ts';
import { useCopy } from '../../state/clipboard.ts';
import classes from './AccessibleChart.module.css';

interface AccessibleChartProps {
  title: string;
  /** What the chart shows, in a sentence; read out in place of the picture. */
  summary: string;
  /** The numbers behind the picture, for the table that can be shown instead. */
  table: { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] };
  height: number;
  children: ReactNode;
}

/** A picture with what a picture alone keeps from some readers: a sentence, and its data as a table. */
export function AccessibleChart({ title, summary, table, height, children }: AccessibleChartProps) {
  const { t } = useTexts();
  const id = useId();
  const [asTable, setAsTable] = useState(false);
  // The screen comes first and its charts right after: they are the slowest part of it, and their place is kept.
  const isDrawn = useDeferredValue(true, false);
  const copy = useCopy();
  const copyData = () =>
    copy.mutate([table.columns, ...table.rows].map((row) => `${row.join('\t')}\n`).join(''));
  const label = asTable ? t('chart.asPicture') : t('chart.asTable');
  return (
    <figure className={classes.figure} aria-labelledby={`${id}-caption`}>
      <figcaption id={`${id}-caption`} className="visually-hidden">
        {`${title}. ${summary}`}
      </figcaption>
      {asTable ? (
        <div className={classes.scroll} style={{ height }} tabIndex={0} role="region" aria-label={title}>
          <table className={classes.table}>
            <thead>
              <tr>
                {table.columns.map((column) => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {table.rows.map((row) => (
                <tr key={row[0]}>
                  {row.map((cell, column) => (
                    <td key={table.columns[column]}>{cell}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <div aria-hidden style={{ height }} className={classes.picture}>
          {isDrawn && children}
        </div>
      )}
      <div className={classes.buttons}>
        <Tooltip label={label}>
          <ActionIcon
            variant="subtle"
            color="slate"
            size="sm"
            aria-label={`${label}: ${title}`}
            onClick={() => setAsTable(!asTable)}
          >
            {asTable ? <IconChartHistogram size={16} aria-hidden /> : <IconTable size={16} aria-hidden />}
          </ActionIcon>
        </Tooltip>
        <Tooltip label={t('chart.copyData')}>
          <ActionIcon
            variant="subtle"
            color="slate"
            size="sm"
            aria-label={`${t('chart.copyData')}: ${title}`}
            onClick={copyData}
          >
            <IconCopy size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </div>
    </figure>
  );
}
