import { inWords, matchSheet, NO_DETAILS, sentPath } from '../../../../electron/contract/index.ts';
import { fileName, folderOf } from '../../../i18n/names.ts';
import { ActionIcon, Box, Button, Group, Loader, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconX } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { Fold } from '../../../components/Fold.tsx';
import { ErrorCard } from '../../../components/feedback/ErrorCard.tsx';
import { ProgressBar } from '../../../components/feedback/ProgressBar.tsx';
import { SamplesDialog } from '../../../components/files/SamplesDialog.tsx';
import { ROW_HEIGHT, VirtualTable, type VirtualColumn } from '../../../components/table/VirtualTable.tsx';
import { useTexts, type Texts } from '../../../i18n/index.ts';
import {
  type FileVerdict,
  type ListedFile,
  blockingProblem,
  totalsOf,
  verdictOf,
  withPairProblems,
} from '../../../state/newRun/inspection.ts';
import { detailsOfFiles, samplesOfFiles } from '../../../state/newRun/choices.ts';
import { nameSamples, selectFile, useNewRun } from '../../../state/newRun/store.ts';
import { sentFraction } from '../../../state/upload.ts';
import { useSettings } from '../../../state/settings.ts';
import { useEngineTexts } from '../../../state/engineTexts.ts';
import { Step } from '../Step.tsx';
import { FileDetails } from './FileDetails.tsx';
import classes from './FilesCard.module.css';
import { PickButtons } from './PickButtons.tsx';
import { Repairs } from './Repairs.tsx';
import { SampleSheet } from './SampleSheet.tsx';
import { useRemoveFiles } from './useRemoveFiles.ts';
import { VerdictBadge } from './VerdictBadge.tsx';

const ROWS_IN_SIGHT = 12;
/** Up to this many unusable files are shown without a click. */
const FEW_BLOCKED = 5;
/** Columns hidden at a phone's width: what happens to a file, and the button that removes it, come first. */
const NARROWEST = { bases: false };
const ALL = {};
/** With more files, samples are named after their files, or later with a list. */
const MOST_NAMED = 500;

/** The files of the new run: what each contains, and what will happen to it. */
export function FilesStep() {
  const texts = useTexts();
  const { t, format } = texts;
  const newRun = useNewRun();
  const { looking, uploads, inspectError, ignored, someIgnored, sheetError, selected, choices } = newRun;
  const files = useMemo(() => withPairProblems(newRun.files), [newRun.files]);
  const isSameComputer = useSettings(({ info }) => info?.sameComputer ?? true);
  const toSend = uploads.filter(({ done }) => !done);
  const [naming, setNaming] = useState(false);
  const [wanted, setWanted] = useState<boolean | null>(null);
  const isNarrowest = useMediaQuery('(max-width: 640px)', false, { getInitialValueInEffect: false });
  const samples = useMemo(() => samplesOfFiles(choices, files), [choices, files]);
  const details = useMemo(() => detailsOfFiles(choices, files), [choices, files]);
  const several = files.length > 1;
  // A column that only repeats the names of the files is useless.
  const tellsApart =
    new Set(samples).size < files.length ||
    Object.keys(choices.samples).length > 0 ||
    details.some(({ control }) => control);
  const home = useMemo(() => commonFolder(files), [files]);
  const [usable, blocked] = useMemo(() => {
    const listed = inOrder(files);
    return [listed.filter((file) => !isBlocked(file)), listed.filter(isBlocked)];
  }, [files]);
  const remarked = usable.filter((file) => REMARKED.has(verdictOf(file)));
  const [wantsRemarked, setWantsRemarked] = useState(false);
  const shown = wantsRemarked && remarked.length > 0 ? remarked : usable;
  const [wantsBlocked, setWantsBlocked] = useState<boolean | null>(null);
  const showsBlocked = wantsBlocked ?? (blocked.length <= FEW_BLOCKED || usable.length === 0);
  const remove = useRemoveFiles();
  const labels = useMemo(
    () => samples.map((name, index) => (details[index]?.control ? t('samples.controlName', { name }) : name)),
    [samples, details, t],
  );
  const columns = useMemo(
    () =>
      fileColumns(
        texts,
        several && tellsApart ? new Map(files.map(({ path }, index) => [path, labels[index] ?? ''])) : null,
        home,
        remove,
      ),
    [texts, files, labels, several, tellsApart, home, remove],
  );
  const totals = totalsOf(files);
  const samplesUsed = new Set(samples.filter((_, index) => !isBlocked(files[index]))).size;
  const shownFile = files.find((file) => file.path === selected);
  const isSettled = files.length > 0 && !looking && uploads.length === 0 && !inspectError && !sheetError;
  const sheet =
    choices.sheet &&
    matchSheet(
      choices.sheet.rows,
      files.map(({ path }) => path),
    );
  const isDone =
    isSettled &&
    !sheet?.missing.length &&
    !sheet?.ambiguous.length &&
    !sheet?.unnamed.length &&
    files.every((file) => verdictOf(file) === 'ready');
  const opened = wanted ?? !isDone;
  const table = (label: string, rows: readonly ListedFile[]) => (
    <>
      <VirtualTable
        label={label}
        columns={columns}
        hiddenColumns={isNarrowest ? NARROWEST : ALL}
        total={rows.length}
        rowAt={(index) => rows[index]}
        height={(Math.min(rows.length, ROWS_IN_SIGHT) + 1) * ROW_HEIGHT + 4}
        onOpen={openFile}
        isOpen={(file) => file.path === shownFile?.path}
        empty={null}
      />
      {shownFile && rows.includes(shownFile) && <FileDetails file={shownFile} />}
    </>
  );
  const summary = (
    <>
      {looking && <Loader size={14} mr={8} />}
      {t('newRun.totals', {
        files: totals.files,
        sequenceCount: totals.sequences,
        bases: format.bases(totals.bases),
      })}
      {several && ` · ${t('newRun.samples', { count: samplesUsed })}`}
      {choices.sheet && ` · ${t('sheet.title')}`}
      {choices.repairs.map((repair) => ` · ${t(`repair.${repair}`)}`)}
      {choices.minLength !== null && ` · ${t('newRun.belowMinLength', { count: totals.belowMinLength })}`}
    </>
  );
  return (
    <Step
      number={1}
      title={t('common.sequences')}
      summary={files.length > 0 ? summary : undefined}
      done={isSettled && blocked.length < files.length}
      opened={opened}
      onToggle={isSettled ? setWanted : undefined}
      aside={<PickButtons />}
    >
      {uploads.length > 0 && (
        <div className={classes.upload}>
          <span className="ellipsis">
            {t(isSameComputer ? 'newRun.reading' : 'newRun.uploading', {
              count: toSend.length,
              name: toSend[0]?.name ?? '',
            })}
          </span>
          <ProgressBar label={t('common.sequences')} fraction={sentFraction(uploads)} />
        </div>
      )}
      {inspectError && <ErrorCard error={inspectError} />}
      {files.length > 0 && (
        <>
          {several && (
            <Group gap="4px 12px" mb={8}>
              {files.length <= MOST_NAMED && (
                <Button variant="default" size="compact-sm" flex="none" onClick={() => setNaming(true)}>
                  {t('samples.edit')}
                </Button>
              )}
              {remarked.length > 0 && usable.length > ROWS_IN_SIGHT && (
                <Button
                  variant={wantsRemarked ? 'light' : 'default'}
                  size="compact-sm"
                  aria-pressed={wantsRemarked}
                  onClick={() => setWantsRemarked(!wantsRemarked)}
                >
                  {t('newRun.onlyRemarked', { count: remarked.length })}
                </Button>
              )}
              {home !== null && (
                <Text fz="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                  {t('newRun.inFolder', { folder: home })}
                </Text>
              )}
            </Group>
          )}
          {shown.length > 0 && table(t('common.sequences'), shown)}
          <SampleSheet />
          <Repairs />
          {blocked.length > 0 && (
            <Group
              justify="space-between"
              gap={12}
              mt={10}
              pl={14}
              pr={8}
              py={8}
              bdrs="md"
              bg="var(--bad-soft)"
            >
              <span style={{ flex: '1 1 240px' }}>{t('newRun.blockedFiles', { count: blocked.length })}</span>
              <Group gap={8}>
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-expanded={showsBlocked}
                  onClick={() => setWantsBlocked(!showsBlocked)}
                >
                  {t(showsBlocked ? 'newRun.hideBlocked' : 'newRun.showBlocked')}
                </Button>
                <Button
                  size="compact-sm"
                  variant="default"
                  onClick={() => remove(blocked.map(({ path }) => path))}
                >
                  {t('newRun.removeBlocked')}
                </Button>
              </Group>
            </Group>
          )}
          {blocked.length > 0 && showsBlocked && <Box mt={8}>{table(t('newRun.blocked'), blocked)}</Box>}
          {ignored > 0 && (
            <Box mt={10}>
              <Fold title={t('newRun.ignored', { count: ignored })}>
                <Text component="ul" fz="sm" c="dimmed" pl={28} style={{ overflowWrap: 'anywhere' }}>
                  {someIgnored.map((path) => (
                    <li key={path}>{path}</li>
                  ))}
                  {ignored > someIgnored.length && <li>…</li>}
                </Text>
              </Fold>
            </Box>
          )}
          {naming && (
            <SamplesDialog
              paths={files.map(({ path }) => path)}
              samples={samples.map((sample, index) => ({ sample, ...(details[index] ?? NO_DETAILS) }))}
              onSave={(named) => {
                nameSamples(named);
                setNaming(false);
              }}
              onClose={() => setNaming(false)}
            />
          )}
        </>
      )}
      {files.length === 0 && looking && (
        <Group component="p" gap={8} mt={0} mb={10} c="dimmed" wrap="nowrap">
          <Loader size={14} /> {t('newRun.looking')}
        </Group>
      )}
    </Step>
  );
}

/** The folder of all files; null if there are several folders, or if a browser sent the files. */
function commonFolder(files: readonly ListedFile[]): string | null {
  const folders = new Set(files.map(({ path }) => folderOf(path)));
  const [only] = folders;
  return only === undefined || folders.size > 1 || files.some(({ path }) => sentPath(path) !== null)
    ? null
    : only;
}

/** Sorted by name in natural order: rows must not move while somebody clicks them. */
function inOrder(files: readonly ListedFile[]): ListedFile[] {
  const collator = new Intl.Collator(undefined, { numeric: true });
  return files.toSorted(
    (x, y) => collator.compare(fileName(x.path), fileName(y.path)) || collator.compare(x.path, y.path),
  );
}

const isBlocked = (file?: ListedFile) => file !== undefined && verdictOf(file) === 'blocked';

const REMARKED: ReadonlySet<FileVerdict> = new Set(['warning', 'skipped']);

const openFile = (file: ListedFile) => selectFile(file.path);

/** Shown beside a file's name: why it cannot be used, else its folder, unless all files have the same one. */
function Beside({ file, home }: { file: ListedFile; home: string | null }) {
  const say = useEngineTexts();
  const problem = blockingProblem(file);
  if (problem) {
    const { title, sentence } = inWords(problem);
    return (
      <span className={classes.reason} title={say(sentence)}>
        {say(title)}
      </span>
    );
  }
  // A sent file lies in the program's own folder, which means nothing to the user.
  const folder = folderOf(sentPath(file.path) ?? file.path);
  return home !== null || folder === '' ? null : <span className="muted">{fileName(folder)}</span>;
}

/** `samples` are keyed by path; null if all files belong to the same sample or to one each. */
function fileColumns(
  { t, format }: Texts,
  samples: ReadonlyMap<string, string> | null,
  home: string | null,
  remove: (paths: readonly string[]) => void,
): VirtualColumn<ListedFile>[] {
  const figure = (file: ListedFile, text: (inspected: NonNullable<ListedFile['inspected']>) => string) =>
    file.inspected ? (blockingProblem(file) ? '–' : text(file.inspected)) : '…';
  return [
    {
      id: 'name',
      title: t('common.file'),
      width: 'minmax(clamp(92px, 19vw, 140px), 1fr)',
      cell: (row) => (
        <span title={row.path}>
          {fileName(row.path)} <Beside file={row} home={home} />
        </span>
      ),
    },
    ...(samples
      ? [
          {
            id: 'sample',
            title: t('common.sample'),
            width: 'minmax(88px, 0.5fr)',
            cell: (row: ListedFile) => <span title={samples.get(row.path)}>{samples.get(row.path)}</span>,
          },
        ]
      : []),
    {
      id: 'sequences',
      title: t('common.sequences'),
      width: '96px',
      align: 'end',
      cell: (row) => figure(row, (file) => format.integer(file.sequences)),
    },
    {
      id: 'bases',
      title: t('common.bases'),
      width: '96px',
      align: 'end',
      cell: (row) => figure(row, (file) => format.bases(file.bases)),
    },
    {
      id: 'verdict',
      title: t('newRun.column.verdict'),
      width: '152px',
      cell: (row) => <VerdictBadge file={row} />,
    },
    {
      id: 'remove',
      title: t('table.actions'),
      width: '44px',
      titleHidden: true,
      cell: (row) => (
        <ActionIcon
          variant="subtle"
          color="slate"
          size="sm"
          aria-label={t('newRun.remove', { name: fileName(row.path) })}
          onClick={(event) => {
            event.stopPropagation();
            remove([row.path]);
          }}
        >
          <IconX size={16} aria-hidden />
        </ActionIcon>
      ),
    },
  ];
}
