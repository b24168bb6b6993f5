import { ActionIcon, Box, Group, Menu, Table, Text } from '@mantine/core';
import { IconChartHistogram, IconCopy, IconDots, IconTable } from '@tabler/icons-react';
import { useDeferredValue, useId, useState, type ReactNode } from 'react';
import { useTexts } from '../../i18n/index.ts';
import { useCopy } from '../../state/clipboard.ts';
import { Guarded } from '../feedback/Guarded.tsx';

/** A colour of a chart, and what it stands for. */
interface LegendItem {
  readonly label: string;
  readonly color: string;
  readonly opacity?: number;
}

interface ChartData {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface AccessibleChartProps {
  title: string;
  /** One sentence on what the chart shows, which screen readers read instead of the picture. */
  summary: string;
  /** The data behind the picture, for the table that can replace it unless one stands beside it; called only when it is opened. */
  table?: () => ChartData;
  height: number;
  /** The picture may grow in height, for example when several plots wrap. */
  grows?: boolean;
  legend?: readonly LegendItem[];
  /** Shown below the chart: how to read it. */
  note?: string;
  children: ReactNode;
}

/** A picture with a one-sentence summary and its data as a table, for readers who cannot see it. */
export function AccessibleChart(props: AccessibleChartProps) {
  return (
    <Guarded>
      <Figure {...props} />
    </Guarded>
  );
}

function Figure(props: AccessibleChartProps) {
  const { title, summary, table, height, grows = false, legend = [], note, children } = props;
  const { t } = useTexts();
  const id = useId();
  const [asTable, setAsTable] = useState(false);
  // Charts are the slowest part of a screen: the screen is drawn first, with space reserved for them, and they follow.
  const isDrawn = useDeferredValue(true, false);
  const copy = useCopy();
  const copyData = ({ columns, rows }: ChartData) => {
    copy.mutate([columns, ...rows].map((row) => `${row.join('\t')}\n`).join(''));
  };
  const Other = asTable ? IconChartHistogram : IconTable;
  return (
    <Group component="figure" m={0} gap={6} align="start" wrap="nowrap" aria-labelledby={`${id}-caption`}>
      <figcaption id={`${id}-caption`} className="visually-hidden">
        {`${title}. ${summary}`}
      </figcaption>
      <Box flex={1} miw={0}>
        {asTable && table ? (
          <Box h={height} style={{ overflow: 'auto' }} tabIndex={0} role="region" aria-label={title}>
            <DataTable {...table()} />
          </Box>
        ) : (
          <Box aria-hidden mih={height} h={grows ? 'auto' : height} miw={0}>
            {isDrawn && children}
          </Box>
        )}
        {legend.length > 0 && (
          <Group component="ul" className="plain-list" gap="4px 16px" mt={6} fz="xs" c="dimmed">
            {legend.map((item) => (
              <Group component="li" key={item.label} gap={6}>
                <Box w={12} h={12} bdrs={3} bg={item.color} opacity={item.opacity ?? 1} aria-hidden />
                {item.label}
              </Group>
            ))}
          </Group>
        )}
        {note !== undefined && (
          <Text size="xs" c="dimmed" mt={6}>
            {note}
          </Text>
        )}
      </Box>
      {table && (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" size={24} aria-label={t('chart.menu', { title })}>
              <IconDots size={16} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<Other size={16} aria-hidden />} onClick={() => setAsTable(!asTable)}>
              {t(asTable ? 'chart.asPicture' : 'chart.asTable')}
            </Menu.Item>
            <Menu.Item leftSection={<IconCopy size={16} aria-hidden />} onClick={() => copyData(table())}>
              {t('chart.copyData')}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
    </Group>
  );
}

function DataTable({ columns, rows }: ChartData) {
  return (
    <Table stickyHeader className="figures">
      <Table.Thead>
        <Table.Tr>
          {columns.map((column) => (
            <Table.Th key={column} scope="col">
              {column}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={row[0]}>
            {row.map((cell, column) => (
              <Table.Td key={columns[column]}>{cell}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
