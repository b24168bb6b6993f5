import { Group, SimpleGrid, Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTexts } from '../../i18n/index.ts';

/** Outlines by kind of content: one row, or all of it. */
const OUTLINES = {
  table: () => <Cells widths={['34%', '12%', '20%', '10%', '14%']} />,
  fields: () => (
    <SimpleGrid cols={2} spacing={24} py={8}>
      <Line width="45%" />
      <Skeleton height={34} width="60%" radius={8} />
    </SimpleGrid>
  ),
  choices: () => (
    <Group gap={12} px={14} py={12} bd="1px solid var(--line)" bdrs={10}>
      <Skeleton circle height={18} />
      <div>
        <Line width="30%" />
        <Line width="55%" thin />
      </div>
    </Group>
  ),
  run: () => <RunOutline />,
} satisfies Record<string, () => ReactNode>;

interface WaitingProps {
  like: keyof typeof OUTLINES;
  rows?: number;
}

/** An outline in the size of what is loading, so that nothing moves when it arrives. */
export function Waiting({ like, rows = 1 }: WaitingProps) {
  const { t } = useTexts();
  const Outline = OUTLINES[like];
  return (
    <Stack gap={12} miw={0} pos="relative" role="status">
      <span className="visually-hidden">{t('common.loading')}</span>
      {Array.from({ length: rows }, (_, row) => (
        <Outline key={row} />
      ))}
    </Stack>
  );
}

/** The outline of a run's dashboard: its progress, its figures, its bars, and two charts. */
function RunOutline() {
  return (
    <>
      <div className="surface">
        <Group gap="14px 32px" mb={16}>
          <Skeleton height={34} width={96} radius={8} />
          {[72, 96, 84, 60].map((width) => (
            <div key={width}>
              <Line width={width} />
              <Line width={width * 0.7} thin />
            </div>
          ))}
        </Group>
        <Skeleton height={14} radius={999} />
      </div>
      <div className="columns">
        {[1, 2].map((chart) => (
          <div key={chart} className="surface">
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
    <Group justify="space-between" gap={16} py={12} wrap="nowrap">
      {widths.map((width, cell) => (
        <Line key={cell} width={width} />
      ))}
    </Group>
  );
}

function Line({ width, thin = false }: { width: string | number; thin?: boolean }) {
  return <Skeleton height={thin ? 8 : 12} mt={thin ? 8 : 0} width={width} radius={999} />;
}
