import { ActionIcon, Menu, Tooltip } from '@mantine/core';
import { IconChartHistogram, IconCopy, IconPhotoDown, IconTable } from '@tabler/icons-react';
import { useDeferredValue, useId, useRef, useState, type ReactNode } from 'react';
import { useTexts } from '../../i18n/index.ts';
import { useCopy } from '../../state/clipboard.ts';
import { PICTURE_FORMATS, useSavePicture } from '../../state/results/useSavePicture.ts';
import classes from './AccessibleChart.module.css';
import type { LegendItem } from './chartPicture.ts';

interface AccessibleChartProps {
  title: string;
  /** What the chart shows, in a sentence; read out in place of the picture. */
  summary: string;
  /** The numbers behind the picture, for the table that can be shown instead. */
  table: { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] };
  height: number;
  legend?: readonly LegendItem[];
  /** How to read it, below. */
  note?: string;
  /** All of the picture is one SVG element, which can be saved with what stands around it. */
  savable?: boolean;
  children: ReactNode;
}

/** A picture with what a picture alone keeps from some readers: a sentence, and its data as a table. */
export function AccessibleChart(props: AccessibleChartProps) {
  const { title, summary, table, height, legend = [], note, savable = false, children } = props;
  const { t } = useTexts();
  const id = useId();
  const [asTable, setAsTable] = useState(false);
  // The screen comes first and its charts right after: they are the slowest part of it, and their place is kept.
  const isDrawn = useDeferredValue(true, false);
  const picture = useRef<HTMLDivElement>(null);
  const copy = useCopy();
  const copyData = () =>
    copy.mutate([table.columns, ...table.rows].map((row) => `${row.join('\t')}\n`).join(''));
  const save = useSavePicture();
  const label = asTable ? t('chart.asPicture') : t('chart.asTable');
  return (
    <figure className={classes.figure} aria-labelledby={`${id}-caption`}>
      <figcaption id={`${id}-caption`} className="visually-hidden">
        {`${title}. ${summary}`}
      </figcaption>
      <div className={classes.content}>
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
          <div aria-hidden style={{ height }} className={classes.picture} ref={picture}>
            {isDrawn && children}
          </div>
        )}
        {legend.length > 0 && (
          <ul className={classes.legend}>
            {legend.map((item) => (
              <li key={item.label}>
                <i style={{ background: item.color, opacity: item.opacity ?? 1 }} aria-hidden />
                {item.label}
              </li>
            ))}
          </ul>
        )}
        {note !== undefined && <p className={classes.note}>{note}</p>}
      </div>
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
        {savable && !asTable && (
          <Menu position="bottom-end" withinPortal>
            <Menu.Target>
              <Tooltip label={t('chart.save')}>
                <ActionIcon
                  variant="subtle"
                  color="slate"
                  size="sm"
                  aria-label={`${t('chart.save')}: ${title}`}
                  loading={save.isPending}
                >
                  <IconPhotoDown size={16} aria-hidden />
                </ActionIcon>
              </Tooltip>
            </Menu.Target>
            <Menu.Dropdown>
              {PICTURE_FORMATS.map((format) => (
                <Menu.Item
                  key={format}
                  onClick={() => {
                    const chart = picture.current?.querySelector('svg');
                    if (chart) save.mutate({ chart, title, legend, note: note ?? '', format });
                  }}
                >
                  {t(`chart.save.${format}`)}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        )}
      </div>
    </figure>
  );
}
