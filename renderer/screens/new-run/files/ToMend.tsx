import { Button, Collapse, Group, SimpleGrid, Text } from '@mantine/core';
import { IconAlertTriangle, IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useId, useState, type ReactNode } from 'react';
import {
  matchSheet,
  type InspectedFile,
  type Repair,
  type SheetRow,
} from '../../../../electron/contract/index.ts';
import { fileName } from '../../../i18n/names.ts';
import { useTexts } from '../../../i18n/index.ts';
import { useErrorTexts } from '../../../state/engineTexts.ts';
import { type ListedFile, mainProblem, verdictOf } from '../../../state/newRun/inspection.ts';
import { removeSheet, setRepair, useNewRun } from '../../../state/newRun/store.ts';
import { useRemoveFiles } from './useRemoveFiles.ts';

const MOST_NAMED = 1;
const has = (file: InspectedFile, problem: string) => file.problems.some(({ code }) => code === problem);

/** Repairs, each with a test for the files that it would help. */
const REPAIRS = [
  ['read_u_as_t', (file) => has(file, 'looks_like_rna') || has(file, 'rna_records')],
  ['remove_gaps', (file) => has(file, 'gaps')],
  // If whole header lines repeat as often as names, they distinguish nothing more.
  ['whole_headers_as_names', (file) => file.duplicate_headers < file.duplicate_ids],
] as const satisfies (readonly [Repair, (file: InspectedFile) => boolean])[];

/** Something about the files, with the button that changes it. */
interface Note {
  readonly id: string;
  /** Whether something is left to mend. */
  readonly isOpen: boolean;
  readonly text: ReactNode;
  readonly button?: readonly [label: string, press: () => void];
}

/** One line that counts what can be mended; unfolded, everything that the table of files does not say. `children` stand beside it. */
export function ToMend({ files, children }: { files: readonly ListedFile[]; children: ReactNode }) {
  const { t } = useTexts();
  const id = useId();
  const [opened, setOpened] = useState(false);
  const notes = [...useBlocked(files), ...useRepairs(files), ...useSheet(files), ...useIgnored()];
  const count = notes.filter(({ isOpen }) => isOpen).length;
  const Chevron = opened ? IconChevronDown : IconChevronRight;
  return (
    <>
      <Group gap="4px 12px" mb={8}>
        {notes.length > 0 && (
          <Button
            variant="default"
            size="compact-sm"
            aria-expanded={opened}
            aria-controls={id}
            leftSection={count > 0 && <IconAlertTriangle size={16} color="var(--warn)" aria-hidden />}
            rightSection={<Chevron size={16} aria-hidden />}
            onClick={() => setOpened(!opened)}
          >
            {t('newRun.toMend', { count })}
          </Button>
        )}
        {children}
      </Group>
      <Collapse expanded={opened} id={id} role="status">
        <SimpleGrid
          component="ul"
          className="plain-list"
          minColWidth="min(400px, 100%)"
          autoFlow="auto-fit"
          spacing={32}
          verticalSpacing={6}
          mb={12}
        >
          {notes.map(({ id: key, text, button }) => (
            <Group component="li" key={key} justify="space-between" gap={12}>
              <Text component="div" flex="1 1 200px" style={{ overflowWrap: 'anywhere' }}>
                {text}
              </Text>
              {button && (
                <Button size="compact-sm" variant="default" flex="none" onClick={button[1]}>
                  {button[0]}
                </Button>
              )}
            </Group>
          ))}
        </SimpleGrid>
      </Collapse>
    </>
  );
}

const isBlocked = (file: ListedFile) => verdictOf(file) === 'blocked';

function useBlocked(files: readonly ListedFile[]): Note[] {
  const { t } = useTexts();
  const remove = useRemoveFiles();
  // RNA has a note of its own, whose button mends it.
  const paths = files
    .filter((file) => isBlocked(file) && mainProblem(file)?.code !== 'looks_like_rna')
    .map(({ path }) => path);
  if (paths.length === 0) return [];
  const text = t('newRun.blockedFiles', { count: paths.length });
  return [{ id: 'blocked', isOpen: true, text, button: [t('newRun.removeBlocked'), () => remove(paths)] }];
}

/** Repairs that can be applied with one click, and those that have been. */
function useRepairs(files: readonly ListedFile[]): Note[] {
  const { t } = useTexts();
  const chosen = useNewRun((state) => state.choices.repairs);
  return REPAIRS.flatMap(([repair, helps]): Note[] => {
    const affected = files.flatMap(({ path, inspected }) =>
      inspected && helps(inspected) ? fileName(path) : [],
    );
    if (chosen.includes(repair)) {
      const undo = [t('common.undo'), () => setRepair(repair, false)] as const;
      return [{ id: repair, isOpen: false, text: t(`repair.${repair}.done`), button: undo }];
    }
    if (affected.length === 0) return [];
    const [name = ''] = affected;
    const text = t(`repair.${repair}.found`, { count: affected.length, name });
    return [
      { id: repair, isOpen: true, text, button: [t(`repair.${repair}`), () => setRepair(repair, true)] },
    ];
  });
}

/** The samples in the sheet that was added with the files, and the problems with it. */
function useSheet(files: readonly ListedFile[]): Note[] {
  const { t, format } = useTexts();
  const errorTexts = useErrorTexts();
  const { choices, sheetError } = useNewRun();
  const { sheet } = choices;
  if (!sheet && !sheetError) return [];
  const paths = files.map(({ path }) => path);
  const match = matchSheet(sheet?.rows ?? [], paths);
  const rows = [...match.rows.values()];
  const blocked = new Set(files.filter(isBlocked).map(({ path }) => path));
  const unnamed = sheet ? match.unnamed.filter((path) => !blocked.has(path)) : [];
  const some = (names: readonly string[]) => {
    const rest = names.length - MOST_NAMED;
    return format.list([
      ...names.slice(0, MOST_NAMED),
      ...(rest > 0 ? [t('newRun.more', { count: rest })] : []),
    ]);
  };
  const filesOf = (lines: readonly SheetRow[]) => some(lines.map(({ file }) => file));
  const error = sheetError && errorTexts(sheetError);
  const faults = [
    ...(error ? [`${error.cause ?? error.title} ${error.next}`] : []),
    ...(match.ambiguous.length > 0 ? [t('sheet.ambiguous', { files: filesOf(match.ambiguous) })] : []),
    ...(unnamed.length > 0 ? [t('sheet.unnamed', { files: some(unnamed.map(fileName)) })] : []),
    ...(match.missing.length > 0 ? [t('sheet.missing', { files: filesOf(match.missing) })] : []),
  ];
  const found = t('sheet.found', {
    named: match.rows.size,
    files: paths.length,
    groups: new Set(rows.flatMap(({ group }) => group ?? [])).size,
    controls: new Set(rows.filter(({ control }) => control).map(({ sample }) => sample)).size,
  });
  const text = faults.join(' ') || found;
  return [{ id: 'sheet', isOpen: faults.length > 0, text, button: [t('sheet.remove'), removeSheet] }];
}

/** Files of a folder that hold no sequences. */
function useIgnored(): Note[] {
  const { t } = useTexts();
  const { ignored, someIgnored } = useNewRun();
  if (ignored === 0) return [];
  const text = (
    <>
      {t('newRun.ignored', { count: ignored })}
      <Text component="ul" fz="sm" c="dimmed" my={0} pl={20}>
        {someIgnored.map((path) => (
          <li key={path}>{path}</li>
        ))}
        {ignored > someIgnored.length && <li>…</li>}
      </Text>
    </>
  );
  return [{ id: 'ignored', isOpen: false, text }];
}
