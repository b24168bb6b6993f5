import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import {
  exportFileName,
  exportScope,
  type ExportFormat,
  type RunSummary,
  type SequenceFilter,
} from '../../electron/contract/index.ts';
import { useTexts } from '../i18n/index.ts';
import { engine } from './connection.ts';
import { download } from './download.ts';
import { useResultsView } from './resultsView.ts';
import { say } from './say.ts';
import { isElectron } from './settings.ts';

export interface ExportOrder {
  format: ExportFormat;
  filter: SequenceFilter;
}

/** Writes sequences of a run to a file that the user names, or that the browser downloads; in the order of the table. */
export function useExport(run: RunSummary, onWritten: () => void = () => undefined) {
  const { t, format: formats, language } = useTexts();
  const sort = useResultsView((state) => state.sort);
  /** From 0 to 1; null while nothing is written. */
  const [fraction, setFraction] = useState<number | null>(null);
  const cancelling = useRef<AbortController | null>(null);
  const write = useMutation({
    mutationFn: async ({ format, filter }: ExportOrder) => {
      const { runId } = run;
      const path = isElectron() ? await choosePath(run, { format, filter }) : undefined;
      if (path === null) return;
      const cancel = new AbortController();
      cancelling.current = cancel;
      setFraction(0);
      try {
        const order = { runId, filter, sort, format, language, ...(path === undefined ? {} : { path }) };
        for await (const event of await engine.results.export(order, { signal: cancel.signal })) {
          if (event.type === 'progress') {
            setFraction(event.total === 0 ? 0 : event.done / event.total);
            continue;
          }
          if (event.downloadPath !== null) download(event.downloadPath);
          say(
            event.downloadPath === null
              ? t('export.written', { path: event.path, size: formats.fileSize(event.bytes) })
              : t('export.downloaded', { size: formats.fileSize(event.bytes) }),
          );
          onWritten();
        }
      } catch (reason) {
        if (!cancel.signal.aborted) throw reason;
        say(t('export.cancelled'));
      } finally {
        cancelling.current = null;
        setFraction(null);
      }
    },
  });
  return { write, fraction, cancel: () => cancelling.current?.abort() };
}

async function choosePath(run: RunSummary, { format, filter }: ExportOrder): Promise<string | null> {
  const { runId, name: runName, state } = run;
  const { total } = await engine.results.counts({ runId, filter });
  const scope = exportScope(filter);
  const suggestedName = exportFileName({
    runName,
    model: run.plan.model,
    format,
    scope,
    sequences: total,
    state,
  });
  return (await engine.shell.chooseSaveFile({ suggestedName })).path;
}
