import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import {
  exportFileName,
  exportScope,
  type ExportFormat,
  type ReportList,
  type RunSummary,
  type SequenceFilter,
} from '../../../electron/contract/index.ts';
import { useTexts, type Texts } from '../../i18n/index.ts';
import { chosenComputer, engine } from '../connection.ts';
import { download } from './download.ts';
import { useResultsView } from './resultsView.ts';
import { say } from '../say.ts';
import { saySaved } from '../saySaved.ts';
import { isElectron } from '../settings.ts';

interface ExportOrder {
  format: ExportFormat;
  filter: SequenceFilter;
  /** Of a table; absent for all. */
  columns?: readonly string[];
  /** Only for a report. */
  reportList?: ReportList;
  isPdf?: boolean;
}

interface ExportMeans {
  readonly texts: Texts;
  readonly signal?: AbortSignal;
  readonly onFraction?: (fraction: number) => void;
}

/** Writes sequences of a run, in the order of the table, to a file that the user names or that the browser downloads. */
async function writeExport(
  run: RunSummary,
  { format, filter, columns, reportList, isPdf = false }: ExportOrder,
  { texts, signal, onFraction }: ExportMeans,
): Promise<void> {
  const { language } = texts;
  const { runId } = run;
  const path = isElectron() ? await choosePath(run, { format, filter, isPdf }) : undefined;
  if (path === null) return;
  const { sort } = useResultsView.getState();
  const order = {
    ...{ runId, filter, sort, format: format.id, language, isPdf },
    ...(columns && { columns: [...columns] }),
    ...(reportList && { reportList }),
    ...(path === undefined ? {} : { path }),
  };
  for await (const event of await engine.results.export(order, signal ? { signal } : {})) {
    if (event.type === 'progress') {
      onFraction?.(event.total === 0 ? 0 : event.done / event.total);
      continue;
    }
    if (event.downloadPath !== null) await download(event.downloadPath, texts);
    // The download has already reported where the file is.
    if (chosenComputer !== null) continue;
    saySaved(event, texts);
  }
}

/** Writes the report of a run: one page about all of it. */
export async function writeReport(
  run: RunSummary,
  order: Pick<ExportOrder, 'reportList' | 'isPdf'>,
  texts: Texts,
): Promise<void> {
  await writeExport(run, { format: await formatNamed('report'), filter: {}, ...order }, { texts });
}

export async function formatNamed(name: string): Promise<ExportFormat> {
  const format = (await engine.results.exportFormats()).find(({ id }) => id === name);
  if (!format) throw new Error(`no format is named ${name}`);
  return format;
}

/** For a button that exports: its progress and a way to cancel. */
export function useExport(run: RunSummary, onWritten: () => void = () => undefined) {
  const texts = useTexts();
  /** From 0 to 1; null while nothing is being written. */
  const [fraction, setFraction] = useState<number | null>(null);
  const cancelling = useRef<AbortController | null>(null);
  const write = useMutation({
    mutationFn: async (order: ExportOrder) => {
      const cancel = new AbortController();
      cancelling.current = cancel;
      setFraction(0);
      try {
        await writeExport(run, order, { texts, signal: cancel.signal, onFraction: setFraction });
        onWritten();
      } catch (reason) {
        if (!cancel.signal.aborted) throw reason;
        say(texts.t('export.cancelled'));
      } finally {
        cancelling.current = null;
        setFraction(null);
      }
    },
  });
  return { write, fraction, cancel: () => cancelling.current?.abort() };
}

async function choosePath(run: RunSummary, { format, filter, isPdf }: ExportOrder): Promise<string | null> {
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
  const name = isPdf ? suggestedName.replace(/\.html$/, '.pdf') : suggestedName;
  return (await engine.shell.chooseSaveFile({ suggestedName: name })).path;
}
