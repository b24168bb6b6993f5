import { inWords, matchSheet, NO_DETAILS, sentPath } from '../../../../electron/contract/index.ts';
import { fileName, folderOf } from '../../../i18n/names.ts';
import { ActionIcon, Button, Group, Loader, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconFolder, IconX } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { ErrorCard } from '../../../components/feedback/ErrorCard.tsx';
import { ProgressBar } from '../../../components/feedback/ProgressBar.tsx';
import { StateBadge } from '../../../components/feedback/StateBadge.tsx';
import { SamplesDialog } from '../../../components/files/SamplesDialog.tsx';
import { ROW_HEIGHT, VirtualTable, type VirtualColumn } from '../../../components/table/VirtualTable.tsx';
import { useTexts, type Texts } from '../../../i18n/index.ts';
import {
  type ListedFile,
  mainProblem,
  totalsOf,
  verdictOf,
  withPairProblems,
} from '../../../state/newRun/inspection.ts';
import { detailsOfFiles, samplesOfFiles } from '../../../state/newRun/choices.ts';
import { nameSamples, selectFile, useNewRun } from '../../../state/newRun/store.ts';
import { sentFraction } from '../../../state/upload.ts';
import { lacksEnvironment, useEnvironment } from '../../../state/computer/environment.ts';
import { useSettings } from '../../../state/settings.ts';
import { useEngineTexts } from '../../../state/engineTexts.ts';
import { Step } from '../Step.tsx';
import { FileDetails } from './FileDetails.tsx';
import classes from './FilesCard.module.css';
import { PickButtons } from './PickButtons.tsx';
import { ToMend } from './ToMend.tsx';
import { useRemoveFiles } from './useRemoveFiles.ts';

/** More rows than this are reached by scrolling, and fewer are in sight where Start would not be. */
const MOST_IN_SIGHT = 12;
const LEAST_IN_SIGHT = 6;
const heightOf = (rows: number) => (rows + 1) * ROW_HEIGHT + 4;
/** What is above and below the table until Start, for files without a model yet. */
const REST_PX = 630;
/** Hidden where space is short: what happens to a file, and the button that removes it, come first. */
const NARROW = { bases: false };
const NARROWEST = { ...NARROW, sample: false, sequences: false };
const ALL = {};
/** With more files, samples are named after their files, or later with a list. */
const MOST_NAMED = 500;

/** Until a model is chosen. */
const USUAL_CHUNK_LENGTH = 500;

/** The files of the new run: what each contains, and what will happen to it. */
export function FilesStep({ chunkLength = USUAL_CHUNK_LENGTH }: { chunkLength?: number | undefined }) {
  const texts = useTexts();
  const { t, format } = texts;
  const newRun = useNewRun();
  const { looking, uploads, inspectError, sheetError, selected, choices } = newRun;
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
  const listed = useMemo(() => inOrder(files), [files]);
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
  const [full, least] = [heightOf(Math.min(listed.length, MOST_IN_SIGHT)), heightOf(LEAST_IN_SIGHT)];
  const summary = (
    <>
      {looking && <Loader size={14} mr={8} />}
      {t('newRun.totals', {
        files: totals.files,
        sequenceCount: totals.sequences,
        bases: format.bases(totals.bases),
      })}
      {several && ` · ${t('newRun.samples', { count: samplesUsed })}`}
      {!opened && choices.sheet && ` · ${t('sheet.title')}`}
      {!opened && choices.repairs.map((repair) => ` · ${t(`repair.${repair}`)}`)}
      {choices.minLength !== null && ` · ${t('newRun.belowMinLength', { count: totals.belowMinLength })}`}
    </>
  );
  return (
    <Step
      number={1}
      title={t('common.sequences')}
      summary={files.length > 0 ? summary : undefined}
      done={isSettled && !listed.every(isBlocked)}
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
          <ToMend files={files}>
            {several && files.length <= MOST_NAMED && (
              <Button variant="default" size="compact-sm" flex="none" onClick={() => setNaming(true)}>
                {t('samples.edit')}
              </Button>
            )}
            {several && home && (
              <Text fz="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                <IconFolder size={16} style={{ verticalAlign: 'text-bottom' }} aria-hidden /> {home}
              </Text>
            )}
          </ToMend>
          <div className={classes.listed} data-open={Boolean(shownFile?.inspected)}>
            <VirtualTable
              label={t('common.sequences')}
              columns={columns}
              hiddenColumns={isNarrowest ? NARROWEST : shownFile ? NARROW : ALL}
              total={listed.length}
              rowAt={(index) => listed[index]}
              height={`min(${full}px, max(${least}px, 100dvh - ${REST_PX}px))`}
              onOpen={openFile}
              isOpen={(file) => file.path === shownFile?.path}
              empty={null}
            />
            {shownFile && <FileDetails file={shownFile} chunkLength={chunkLength} />}
          </div>
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

/** Where a file was: one that a browser sent lies in the program's own folder, which means nothing to the user. */
const originOf = ({ path }: ListedFile) => folderOf(sentPath(path) ?? path);

/** The folder of all files; null if there are several. */
function commonFolder(files: readonly ListedFile[]): string | null {
  const [only, ...others] = new Set(files.map(originOf));
  return only === undefined || others.length > 0 ? null : only;
}

/** Files that cannot be used come last; each kind is sorted by name: rows must not move while somebody clicks them. */
function inOrder(files: readonly ListedFile[]): ListedFile[] {
  const collator = new Intl.Collator(undefined, { numeric: true });
  return files.toSorted(
    (x, y) =>
      Number(isBlocked(x)) - Number(isBlocked(y)) ||
      collator.compare(fileName(x.path), fileName(y.path)) ||
      collator.compare(x.path, y.path),
  );
}

const isBlocked = (file?: ListedFile) => file !== undefined && verdictOf(file) === 'blocked';

const openFile = (file: ListedFile) => selectFile(file.path);

/** Shown with a file's name: the worst that there is to say about it, else its folder, unless all files have the same one. */
function Beside({ file, home }: { file: ListedFile; home: string | null }) {
  const say = useEngineTexts();
  const problem = mainProblem(file);
  if (problem) {
    const { title, sentence } = inWords(problem);
    return (
      <span className={`${classes.reason} muted`} title={say(sentence)}>
        {say(title)}
      </span>
    );
  }
  return home === null && <span className="muted">{fileName(originOf(file))}</span>;
}

function Verdict({ file }: { file: ListedFile }) {
  const lacks = useEnvironment(({ status }) => lacksEnvironment(status));
  const verdict = verdictOf(file);
  return <StateBadge state={verdict === 'looking' && lacks ? 'verdict.waiting' : `verdict.${verdict}`} />;
}

/** What cannot be used is greyed. */
const look = (file: ListedFile) => ({ className: isBlocked(file) ? 'muted' : undefined });

/** `samples` are keyed by path; null if all files belong to the same sample or to one each. */
function fileColumns(
  { t, format }: Texts,
  samples: ReadonlyMap<string, string> | null,
  home: string | null,
  remove: (paths: readonly string[]) => void,
): VirtualColumn<ListedFile>[] {
  const figure = (file: ListedFile, text: (inspected: NonNullable<ListedFile['inspected']>) => string) =>
    file.inspected ? (isBlocked(file) ? '–' : text(file.inspected)) : '…';
  return [
    {
      id: 'name',
      title: t('common.file'),
      width: 'minmax(clamp(92px, 19vw, 140px), 1fr)',
      look,
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
            look,
            cell: (row: ListedFile) => {
              const sample = isBlocked(row) ? '–' : samples.get(row.path);
              return <span title={sample}>{sample}</span>;
            },
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
      cell: (row) => <Verdict file={row} />,
    },
    {
      id: 'remove',
      title: t('table.actions'),
      width: '44px',
      titleHidden: true,
      cell: (row) => (
        <ActionIcon
          variant="subtle"
          color="gray"
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
