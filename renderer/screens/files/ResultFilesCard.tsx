import { useMutation, useQuery } from '@tanstack/react-query';
import { ActionIcon, Button, Group, Text } from '@mantine/core';
import { IconDownload, IconFolderOpen } from '@tabler/icons-react';
import { MAIN_FILES, type ExpectedFile, type RunSummary } from '../../../electron/contract/index.ts';
import { Section } from '../../components/Card.tsx';
import { PathText } from '../../components/files/PathText.tsx';
import { Fold } from '../../components/Fold.tsx';
import { useTexts } from '../../i18n/index.ts';
import { download } from '../../state/results/download.ts';
import { engine, queries } from '../../state/connection.ts';
import { openRunDialog } from '../../state/runs/runDialog.ts';
import { useSettings } from '../../state/settings.ts';
import { useReveal } from '../../state/useReveal.ts';
import classes from './Files.module.css';

/** The result files of a run, each with a download in a browser, or a button that shows it in its folder. */
export function ResultFilesCard({ run }: { run: RunSummary }) {
  const texts = useTexts();
  const { t, lookUp, format } = texts;
  const { runId, folder } = run;
  const isBrowser = useSettings((state) => state.info?.shell === 'browser');
  const reveal = useReveal();
  const files = useQuery(
    // The key includes the phase, since files are written when it changes.
    {
      ...queries.runs.files.queryOptions({ input: { runId } }),
      queryKey: [...queries.runs.files.key({ input: { runId } }), run.state.phase],
    },
  );
  const fetch = useMutation({
    mutationFn: async (name: string) =>
      download((await engine.runs.download({ runId, name })).downloadPath, texts),
  });
  const open = useMutation({ mutationFn: (name: string) => engine.runs.openFile({ runId, name }) });
  if (!files.data || files.data.length === 0) return null;
  const isMain = ({ name }: ExpectedFile) => MAIN_FILES.includes(name);
  const others = files.data.filter((file) => !isMain(file));
  const missingLine = (name: string) => (
    <li key={name}>
      <code>{name}</code>
      <Text span c="var(--bad)">
        {t('history.verdict.missing')}
      </Text>
      <Button ml="auto" size="compact-sm" variant="default" onClick={() => openRunDialog(runId, 'verify')}>
        {t('history.verify')}
      </Button>
    </li>
  );
  const line = ({ name, bytes }: ExpectedFile) => {
    if (bytes === null) return missingLine(name);
    return (
      <li key={name}>
        <code>{name}</code>
        <span className="muted">{lookUp(`resultFile.${name}`) ?? ''}</span>
        <Text span ml="auto" style={{ whiteSpace: 'nowrap' }}>
          {format.fileSize(bytes)}
        </Text>
        {isBrowser && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
            aria-label={`${t('resultFiles.download')}: ${name}`}
            onClick={() => fetch.mutate(name)}
          >
            {t('resultFiles.download')}
          </Button>
        )}
        {reveal.hasFileManager && (
          <Group gap={6} wrap="nowrap">
            {/* Files that no other program should write to. */}
            {name !== 'run.db' && (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={`${t('resultFiles.open')}: ${name}`}
                onClick={() => open.mutate(name)}
              >
                {t('resultFiles.open')}
              </Button>
            )}
            <ActionIcon
              variant="default"
              aria-label={`${reveal.label}: ${name}`}
              onClick={() => reveal.run(`${folder}${folder.includes('\\') ? '\\' : '/'}${name}`)}
            >
              <IconFolderOpen size={16} aria-hidden />
            </ActionIcon>
          </Group>
        )}
      </li>
    );
  };
  return (
    <Section
      title={t('resultFiles.title')}
      aside={
        <Text span miw={0} fz="sm" c="dimmed">
          <PathText path={folder} />
        </Text>
      }
    >
      <ul className={`plain-list ${classes.resultFiles}`}>{files.data.filter(isMain).map(line)}</ul>
      {others.length > 0 && (
        <Fold
          title={t('resultFiles.others', { count: others.length })}
          opened={others.length === files.data.length}
        >
          <ul className={`plain-list ${classes.resultFiles}`}>{others.map(line)}</ul>
        </Fold>
      )}
    </Section>
  );
}
