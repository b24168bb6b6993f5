import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Box, Button, Checkbox, Group, Loader, Text, TextInput } from '@mantine/core';
import { Dialog, DialogButtons } from '../Dialog.tsx';
import { IconArrowUp, IconFile, IconFolder } from '@tabler/icons-react';
import { useState } from 'react';
import {
  isSequenceFile,
  isSheetName,
  isSheetOfFolder,
  type FilePurpose,
  type FolderPurpose,
} from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { usePathChooser, type Choice } from '../../state/pathChooser.ts';
import { useSettings } from '../../state/settings.ts';
import { store, stored } from '../../state/storage.ts';
import classes from './BrowseDialog.module.css';
import { ErrorCard } from '../feedback/ErrorCard.tsx';

/** These settings take a single file. */
const ONE_FILE: ReadonlySet<FilePurpose> = new Set(['certificate', 'interpreter']);
/** The dialog can create a folder for these purposes, since the program writes into it. */
const NEW_FOLDERS: ReadonlySet<FolderPurpose> = new Set(['output', 'pack', 'data']);

/** The browser keeps the folder in which something was last chosen. */
const FOLDER_KEY = 'virnucpro.folder';

/** In browser mode, lists files and folders of the engine's computer. */
export function BrowseDialog() {
  const { t } = useTexts();
  const request = usePathChooser((state) => state.request);
  const place = usePlace();
  return (
    <Dialog
      opened={request !== null}
      onClose={() => request?.resolve([])}
      title={request ? t(titleOf(request.choice), { place }) : ''}
      size="lg"
    >
      {request && <BrowseFolder choice={request.choice} onChosen={request.resolve} />}
    </Dialog>
  );
}

function titleOf(choice: Choice) {
  return choice.kind === 'files'
    ? (`browse.title.files.${choice.purpose}` as const)
    : (`browse.title.${choice.purpose}` as const);
}

/** Whose disk is shown: this computer's, or that of the named one on which the program runs. */
function usePlace(): string {
  const { t } = useTexts();
  const info = useSettings((state) => state.info);
  return info === null || info.sameComputer ? t('browse.thisComputer') : info.hostName;
}

interface BrowseFolderProps {
  choice: Choice;
  onChosen: (paths: string[]) => void;
}

function BrowseFolder({ choice, onChosen }: BrowseFolderProps) {
  const { t, format } = useTexts();
  const [folder, setFolder] = useState(() => stored(FOLDER_KEY));
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const [newName, setNewName] = useState('');
  const [onlySequences, setOnlySequences] = useState(true);
  const listing = useQuery({
    ...queries.computer.browse.queryOptions({ input: { folder } }),
    placeholderData: keepPreviousData,
  });
  const picksFiles = choice.kind === 'files';
  const picksSequences = picksFiles && choice.purpose === 'sequences';
  const picksOne = picksFiles && ONE_FILE.has(choice.purpose);
  const entries = (listing.data?.entries ?? []).filter(
    ({ name, isFolder }) =>
      isFolder || !picksSequences || !onlySequences || isSequenceFile(name) || isSheetOfFolder(name),
  );
  const files = entries.filter(({ isFolder }) => !isFolder).map(({ path }) => path);
  const open = (path: string | null) => {
    setFolder(path);
    setTicked([]);
  };
  const here = listing.data?.folder ?? '';
  const chosen = picksFiles ? [...ticked] : [newName.trim() ? `${here}/${newName.trim()}` : here];
  const allTicked = files.length > 0 && files.every((path) => ticked.includes(path));
  const choose = () => {
    store(FOLDER_KEY, here);
    onChosen(chosen);
  };
  return (
    <>
      <Group gap={12} mb={8} wrap="nowrap">
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconArrowUp size={16} aria-hidden />}
          disabled={!listing.data || listing.data.parent === null}
          onClick={() => open(listing.data?.parent ?? null)}
        >
          {t('browse.up')}
        </Button>
        <Text span ff="monospace" fz="sm" style={{ overflowWrap: 'anywhere' }}>
          {here}
        </Text>
      </Group>
      <Group gap="8px 16px" mb={10}>
        {picksSequences && (
          <Checkbox
            size="xs"
            label={t('browse.onlySequences')}
            checked={onlySequences}
            onChange={(event) => setOnlySequences(event.currentTarget.checked)}
          />
        )}
        {picksFiles && !picksOne && (
          <Checkbox
            size="xs"
            label={t('browse.selectAll', { count: files.length })}
            disabled={files.length === 0}
            checked={allTicked}
            indeterminate={!allTicked && ticked.length > 0}
            onChange={() => setTicked(allTicked ? [] : files)}
          />
        )}
      </Group>
      {listing.error && (
        <ErrorCard
          error={listing.error}
          actions={
            folder !== null && (
              <Button size="compact-sm" variant="default" onClick={() => open(null)}>
                {t('browse.toStart')}
              </Button>
            )
          }
        />
      )}
      <Box
        component="ul"
        className="plain-list"
        p={4}
        h={340}
        bd="1px solid var(--line)"
        bdrs={10}
        style={{ overflow: 'auto' }}
        aria-label={t('browse.contents')}
        aria-busy={listing.isFetching}
      >
        {!listing.data && listing.isFetching && <Loader size="sm" m="md" />}
        {listing.data && entries.length === 0 && (
          <Text component="li" p={16} c="dimmed">
            {t(listing.data.entries.length === 0 ? 'browse.empty' : 'browse.noneFit')}
          </Text>
        )}
        {entries.map((entry) => (
          <li key={entry.path}>
            {entry.isFolder ? (
              <button type="button" className={classes.folder} onClick={() => open(entry.path)}>
                <IconFolder size={18} aria-hidden />
                {entry.name}
              </button>
            ) : (
              <div
                className={classes.file}
                data-usable={
                  picksFiles && (!picksSequences || isSequenceFile(entry.name) || isSheetName(entry.name))
                }
              >
                {picksFiles ? (
                  <Checkbox
                    size="xs"
                    label={entry.name}
                    checked={ticked.includes(entry.path)}
                    onChange={(event) =>
                      setTicked(
                        event.currentTarget.checked
                          ? [...(picksOne ? [] : ticked), entry.path]
                          : ticked.filter((path) => path !== entry.path),
                      )
                    }
                  />
                ) : (
                  <>
                    <IconFile size={18} aria-hidden />
                    {entry.name}
                  </>
                )}
                <Text span ml="auto" fz="xs" c="dimmed">
                  {entry.changedAt === null ? '' : `${format.date(entry.changedAt)} · `}
                  {entry.sizeBytes === null ? '' : format.fileSize(entry.sizeBytes)}
                </Text>
              </div>
            )}
          </li>
        ))}
        {listing.data?.truncated && (
          <Text component="li" p={16} c="dimmed">
            {t('browse.truncated')}
          </Text>
        )}
      </Box>
      {choice.kind === 'folder' && NEW_FOLDERS.has(choice.purpose) && (
        <TextInput
          mt="md"
          label={t('browse.newFolder')}
          value={newName}
          onChange={(event) => setNewName(event.currentTarget.value)}
        />
      )}
      <DialogButtons onClose={() => onChosen([])}>
        <Button disabled={!listing.data || listing.isPlaceholderData || chosen.length === 0} onClick={choose}>
          {picksFiles ? t('browse.takeFiles', { count: ticked.length }) : t('browse.takeFolder')}
        </Button>
      </DialogButtons>
    </>
  );
}
