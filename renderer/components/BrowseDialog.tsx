import { queries } from '../state/connection.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Button, Checkbox, Group, Loader, Modal, TextInput } from '@mantine/core';
import { IconArrowUp, IconFile, IconFolder } from '@tabler/icons-react';
import { useState } from 'react';
import { useTexts } from '../i18n/index.ts';
import { usePathChooser, type ChoicePurpose } from '../state/pathChooser.ts';
import classes from './BrowseDialog.module.css';
import { ErrorCard } from './ErrorCard.tsx';

/** Browser mode: files and folders of the engine's computer. */
export function BrowseDialog() {
  const { t } = useTexts();
  const request = usePathChooser((state) => state.request);
  return (
    <Modal
      opened={request !== null}
      onClose={() => request?.resolve([])}
      title={request ? t(`browse.title.${request.purpose}`) : ''}
      size="lg"
    >
      {request && <BrowseFolder purpose={request.purpose} onChosen={request.resolve} />}
    </Modal>
  );
}

function BrowseFolder({
  purpose,
  onChosen,
}: {
  purpose: ChoicePurpose;
  onChosen: (paths: string[]) => void;
}) {
  const { t, format } = useTexts();
  const [folder, setFolder] = useState<string | null>(null);
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const [newName, setNewName] = useState('');
  const listing = useQuery({
    ...queries.computer.browse.queryOptions({ input: { folder } }),
    placeholderData: keepPreviousData,
  });
  const open = (path: string | null) => {
    setFolder(path);
    setTicked([]);
  };
  const picksFiles = purpose === 'files';
  const here = listing.data?.folder ?? '';
  const chosen = picksFiles ? [...ticked] : [newName.trim() ? `${here}/${newName.trim()}` : here];
  return (
    <>
      <div className={classes.bar}>
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconArrowUp size={16} aria-hidden />}
          disabled={!listing.data || listing.data.parent === null}
          onClick={() => open(listing.data?.parent ?? null)}
        >
          {t('browse.up')}
        </Button>
        <span className={classes.here}>{here}</span>
      </div>
      {listing.error && <ErrorCard error={listing.error} />}
      <ul className={classes.list} aria-label={t('browse.contents')} aria-busy={listing.isFetching}>
        {!listing.data && listing.isFetching && <Loader size="sm" m="md" />}
        {listing.data?.entries.length === 0 && <li className={classes.nothing}>{t('browse.empty')}</li>}
        {listing.data?.entries.map((entry) => (
          <li key={entry.path} className={classes.entry}>
            {entry.isFolder ? (
              <button type="button" className={classes.folder} onClick={() => open(entry.path)}>
                <IconFolder size={18} aria-hidden />
                {entry.name}
              </button>
            ) : (
              <div className={classes.file} data-usable={picksFiles}>
                {picksFiles ? (
                  <Checkbox
                    size="xs"
                    label={entry.name}
                    checked={ticked.includes(entry.path)}
                    onChange={(event) =>
                      setTicked(
                        event.currentTarget.checked
                          ? [...ticked, entry.path]
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
                <span className={classes.size}>
                  {entry.sizeBytes === null ? '' : format.fileSize(entry.sizeBytes)}
                </span>
              </div>
            )}
          </li>
        ))}
        {listing.data?.truncated && <li className={classes.nothing}>{t('browse.truncated')}</li>}
      </ul>
      {purpose === 'output' && (
        <TextInput
          mt="md"
          label={t('browse.newFolder')}
          value={newName}
          onChange={(event) => setNewName(event.currentTarget.value)}
        />
      )}
      <Group justify="flex-end" mt="lg" gap="sm">
        <Button variant="default" onClick={() => onChosen([])}>
          {t('common.cancel')}
        </Button>
        <Button disabled={!listing.data || chosen.length === 0} onClick={() => onChosen(chosen)}>
          {picksFiles ? t('browse.takeFiles', { count: ticked.length }) : t('browse.takeFolder')}
        </Button>
      </Group>
    </>
  );
}
