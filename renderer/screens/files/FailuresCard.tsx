import { modals } from '@mantine/modals';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { isAtWork } from '../../../electron/contract/runState.ts';
import type { FailedPart, Repair, RunSummary } from '../../../electron/contract/index.ts';
import { Card } from '../../components/Card.tsx';
import { Fold } from '../../components/Fold.tsx';
import { DESTRUCTIVE } from '../../styles/theme.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { fileName } from '../../i18n/names.ts';
import { type Texts, useTexts } from '../../i18n/index.ts';
import { engine, queries } from '../../state/connection.ts';
import { useDeviceLabels } from '../../state/runs/deviceLabels.ts';
import { chooseFiles } from '../../state/pathChooser.ts';
import { askAgain } from '../../state/queryClient.ts';
import { sayError } from '../../state/say.ts';
import { LogDialog } from './LogDialog.tsx';
import { whileInWork } from './whileInWork.ts';

const MOST_SHOWN = 50;

/** Failed parts: what happened, and what can be done about each or all of them. */
export function FailuresCard({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const { runId } = run;
  const [log, setLog] = useState<string | null>(null);
  const failed = useQuery({
    ...queries.runs.parts.queryOptions({ input: { runId } }),
    ...whileInWork(run),
  });
  const onSuccess = () => askAgain(queries.runs.key());
  const retry = useMutation({
    mutationFn: (parts: 'all' | string[]) => engine.runs.retry({ runId, parts }),
    onSuccess,
  });
  const skip = useMutation({
    mutationFn: (parts: string[]) => engine.runs.skip({ runId, parts }),
    onSuccess,
  });
  const askToSkip = (part: string) =>
    modals.openConfirmModal({
      title: t('files.skipTitle'),
      children: t('files.skipText'),
      labels: { confirm: t('files.skip'), cancel: t('common.cancel') },
      confirmProps: DESTRUCTIVE,
      onConfirm: () => skip.mutate([part]),
    });
  const total = failed.data?.failed ?? 0;
  if (!failed.data || total === 0) return failed.error ? <ErrorCard error={failed.error} /> : null;
  const { items } = failed.data;
  return (
    <Card
      tone="bad"
      title={t('files.failedParts', { count: total })}
      aside={
        <Button size="compact-sm" loading={retry.isPending} onClick={() => retry.mutate('all')}>
          {t('files.retryAll')}
        </Button>
      }
    >
      <FailureList names={items.map((part) => rangeOf(part, t))} explanation={t('files.failedExplain')}>
        {items.map((part) => (
          <Failure
            key={part.key}
            part={part}
            busy={retry.isPending || skip.isPending}
            onRetry={() => retry.mutate([part.key])}
            onSkip={() => askToSkip(part.key)}
            onLog={() => setLog(part.logPath)}
          />
        ))}
        {total > items.length && (
          <li className="muted">{t('files.moreFailed', { count: total - items.length })}</li>
        )}
      </FailureList>
      <LogDialog runId={runId} path={log} onClose={() => setLog(null)} />
    </Card>
  );
}

function rangeOf({ firstRow, lastRow, firstName: first, lastName: last }: FailedPart, t: Texts['t']): string {
  return firstRow === lastRow ? t('files.sequence', { first }) : t('files.sequences', { first, last });
}

interface FailureListProps {
  names: string[];
  explanation: string;
  children: ReactNode;
}

/** One failure in full; several as one line that opens, so that the table of files stays in sight. */
function FailureList({ names, explanation, children }: FailureListProps) {
  const list = (
    <>
      <Text mb={12} c="dimmed">
        {explanation}
      </Text>
      <Stack component="ul" className="plain-list" gap={12}>
        {children}
      </Stack>
    </>
  );
  return names.length === 1 ? list : <Fold title={names.join(', ')}>{list}</Fold>;
}

interface FailureProps {
  part: FailedPart;
  busy: boolean;
  onRetry: () => void;
  onSkip: () => void;
  onLog: () => void;
}

function Failure({ part, busy, onRetry, onSkip, onLog }: FailureProps) {
  const { t } = useTexts();
  const { failure } = part;
  const deviceLabel = useDeviceLabels();
  const facts = [
    ...part.files.map(fileName),
    t('files.attempts', { attempts: part.attempts }),
    ...(part.device === null ? [] : [deviceLabel(part.device)]),
    ...(failure ? [t(`failedWhile.${failure.stage}`)] : []),
  ];
  const buttons = (
    <>
      <Button size="compact-sm" variant="light" disabled={busy} onClick={onRetry}>
        {t('files.retry')}
      </Button>
      <Button size="compact-sm" variant="default" disabled={busy} onClick={onSkip}>
        {t('files.skip')}
      </Button>
      {part.logPath !== null && (
        <Button size="compact-sm" variant="subtle" color="gray" onClick={onLog}>
          {t('files.showLog')}
        </Button>
      )}
    </>
  );
  return (
    <Paper component="li" withBorder radius={10} px={14} py={12}>
      <Group gap={12} mb={8} align="baseline" style={{ overflowWrap: 'anywhere' }}>
        <b>{rangeOf(part, t)}</b>
        <span className="muted">{facts.join(' · ')}</span>
      </Group>
      {failure ? (
        <ErrorCard error={failure.error} bare actions={buttons} />
      ) : (
        <Group gap={8}>{buttons}</Group>
      )}
    </Paper>
  );
}

/** The files that the run goes on without, each with its reason. */
export function UnusableCard({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const { data } = useQuery({
    ...queries.runs.inputs.queryOptions({ input: { runId: run.runId, offset: 0, limit: 1 } }),
    ...whileInWork(run),
  });
  const settle = useMutation({
    mutationFn: (settled: { file: string; path: string | null; repairs?: Repair[] }) =>
      engine.runs.settleInput({ runId: run.runId, ...settled }),
    onSuccess: () => askAgain(queries.runs.key()),
  });
  const chooseOther = async (file: string): Promise<void> => {
    const [path] = await chooseFiles('sequences');
    if (path !== undefined) settle.mutate({ file, path });
  };
  if (!data || data.unusable.length === 0) return null;
  const count = data.unusable.length;
  const button = (label: string, onClick: () => void) => (
    <Button
      size="compact-sm"
      variant="default"
      disabled={isAtWork(run) || settle.isPending}
      onClick={onClick}
    >
      {label}
    </Button>
  );
  return (
    <Card tone="bad" title={t('files.unusable', { count })}>
      <FailureList
        names={data.unusable.map(({ path }) => fileName(path))}
        explanation={t('files.unusableText')}
      >
        {data.unusable.slice(0, MOST_SHOWN).map(({ path: file, error, repair }) => (
          <Paper component="li" withBorder radius={10} px={14} py={12} key={file}>
            <Group gap={12} mb={8} align="baseline" style={{ overflowWrap: 'anywhere' }}>
              <b title={file}>{fileName(file)}</b>
            </Group>
            <ErrorCard
              error={error}
              bare
              actions={
                <>
                  {repair &&
                    button(t(`repair.${repair}`), () =>
                      settle.mutate({ file, path: file, repairs: [repair] }),
                    )}
                  {button(t('files.readAgain'), () => settle.mutate({ file, path: file, repairs: [] }))}
                  {button(t('files.chooseOther'), () => void chooseOther(file).catch(sayError))}
                  {button(t('files.leaveOut'), () => settle.mutate({ file, path: null }))}
                </>
              }
            />
          </Paper>
        ))}
        {count > MOST_SHOWN && (
          <li className="muted">{t('files.moreUnusable', { count: count - MOST_SHOWN })}</li>
        )}
      </FailureList>
    </Card>
  );
}
