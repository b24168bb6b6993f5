import { Button, Group, Text } from '@mantine/core';
import { matchSheet, type SheetRow } from '../../../../electron/contract/index.ts';
import { fileName } from '../../../i18n/names.ts';
import { useTexts } from '../../../i18n/index.ts';
import { useErrorTexts } from '../../../state/engineTexts.ts';
import { removeSheet, useNewRun } from '../../../state/newRun/store.ts';

const MOST_NAMED = 5;

/** The samples in the sheet that was added with the files, and the problems with it. */
export function SampleSheet() {
  const { t, format } = useTexts();
  const errorTexts = useErrorTexts();
  const { files, choices, sheetError } = useNewRun();
  const { sheet } = choices;
  if (!sheet && !sheetError) return null;
  const match = matchSheet(
    sheet?.rows ?? [],
    files.map(({ path }) => path),
  );
  const rows = new Set(match.rows.values());
  const groups = new Set([...rows].flatMap(({ group }) => group ?? []));
  const controls = new Set([...rows].filter(({ control }) => control).map(({ sample }) => sample));
  const some = (names: readonly string[]) =>
    format.list([...names.slice(0, MOST_NAMED), ...(names.length > MOST_NAMED ? ['…'] : [])]);
  const filesOf = (lines: readonly SheetRow[]) => some(lines.map(({ file }) => file));
  const error = sheetError && errorTexts(sheetError);
  const isBad = error !== null || match.ambiguous.length > 0;
  return (
    <Group
      justify="space-between"
      gap={12}
      mt={10}
      pl={14}
      pr={8}
      py={8}
      bdrs="md"
      bg={isBad ? 'var(--bad-soft)' : 'var(--accent-soft)'}
      role="status"
    >
      <Text span flex="1 1 280px" style={{ overflowWrap: 'anywhere' }}>
        {error && `${error.cause ?? error.title} ${error.next} `}
        {sheet &&
          t('sheet.found', {
            named: match.rows.size,
            files: files.length,
            groups: groups.size,
            controls: controls.size,
          })}
        {match.ambiguous.length > 0 && ` ${t('sheet.ambiguous', { files: filesOf(match.ambiguous) })}`}
        {sheet &&
          match.unnamed.length > 0 &&
          ` ${t('sheet.unnamed', { files: some(match.unnamed.map(fileName)) })}`}
        {match.missing.length > 0 && ` ${t('sheet.missing', { files: filesOf(match.missing) })}`}
      </Text>
      <Button size="compact-sm" variant="default" flex="none" onClick={removeSheet}>
        {t('sheet.remove')}
      </Button>
    </Group>
  );
}
