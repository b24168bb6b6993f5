import { Button, Group } from '@mantine/core';
import type { InspectedFile, Repair } from '../../../../electron/contract/index.ts';
import { useTexts } from '../../../i18n/index.ts';
import { setRepair, useNewRun } from '../../../state/newRun/store.ts';

const has = (file: InspectedFile, problem: string) => file.problems.some(({ code }) => code === problem);

/** Repairs, each with a test for the files that it would help. */
const OFFERS = [
  ['read_u_as_t', (file) => has(file, 'looks_like_rna') || has(file, 'rna_records')],
  ['remove_gaps', (file) => has(file, 'gaps')],
  // If whole header lines repeat as often as names, they distinguish nothing more.
  ['whole_headers_as_names', (file) => file.duplicate_headers < file.duplicate_ids],
] as const satisfies (readonly [Repair, (file: InspectedFile) => boolean])[];

/** Repairs that can be applied with one click, and those that have been. */
export function Repairs() {
  const { t } = useTexts();
  const files = useNewRun((state) => state.files);
  const chosen = useNewRun((state) => state.choices.repairs);
  return OFFERS.map(([repair, helps]) => {
    const affected = files.filter(({ inspected }) => inspected && helps(inspected)).length;
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
        <Button size="compact-sm" variant="default" flex="none" onClick={() => setRepair(repair, !isChosen)}>
          {isChosen ? t('common.undo') : t(`repair.${repair}`)}
        </Button>
      </Group>
    );
  });
}
