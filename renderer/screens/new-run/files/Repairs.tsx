import { Button, Group } from '@mantine/core';
import type { Repair } from '../../../../electron/contract/index.ts';
import { useTexts } from '../../../i18n/index.ts';
import { setRepair, useNewRun } from '../../../state/newRun/store.ts';

/** What is found in a file, and what mends it. */
const OFFERS = [
  ['looks_like_rna', 'read_u_as_t'],
  ['looks_like_alignment', 'remove_gaps'],
  ['duplicate_ids', 'whole_headers_as_names'],
] as const satisfies (readonly [string, Repair])[];

/** What can be mended with one click, and what is. */
export function Repairs() {
  const { t } = useTexts();
  const files = useNewRun((state) => state.files);
  const chosen = useNewRun((state) => state.choices.repairs);
  return OFFERS.map(([code, repair]) => {
    const affected = files.filter(({ inspected }) =>
      inspected?.problems.some((problem) => problem.code === code),
    ).length;
    const isChosen = chosen.includes(repair);
    if (!isChosen && affected === 0) return null;
    return (
      <Group
        key={repair}
        justify="space-between"
        gap={12}
        mt={10}
        pl={14}
        pr={8}
        py={8}
        bdrs="md"
        bg={isChosen ? 'var(--accent-soft)' : 'var(--warn-soft)'}
        role="status"
      >
        <span style={{ flex: '1 1 240px' }}>
          {isChosen ? t(`repair.${repair}.done`) : t(`repair.${repair}.found`, { count: affected })}
        </span>
        <Button
          size="compact-sm"
          variant={isChosen ? 'default' : 'filled'}
          flex="none"
          onClick={() => setRepair(repair, !isChosen)}
        >
          {isChosen ? t('repair.undo') : t(`repair.${repair}`)}
        </Button>
      </Group>
    );
  });
}
