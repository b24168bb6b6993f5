import { resolve } from 'node:path';
import { exportFileName, exportScope, type ExportLanguage } from '../../../contract/exports.ts';
import { unwrap } from '../../../contract/result.ts';
import { exportResults, formatBytes, formatCount, formatNamed } from '../../../engine/index.ts';
import { EXIT, stopSignals } from '../../exitCodes.ts';
import { sortOf } from '../../filterArgument.ts';
import { openEngine } from '../../openEngine.ts';
import { withRun } from '../../openRunFolder.ts';
import { selectionAsked } from '../../selectionAsked.ts';
import { toStandardError } from '../../output/terminal.ts';

export interface ExportFlags {
  format: string;
  filter: string[];
  sort: string;
  with: string[];
  output?: string;
  language: ExportLanguage;
  python?: string;
  json?: boolean;
  quiet?: boolean;
}

/** Exports sequences of a run to a file. Ctrl-C cancels it and leaves no incomplete file. */
export async function exportRun(run: string, flags: ExportFlags, storeHost: URL): Promise<number> {
  const cancel = new AbortController();
  const onSignal = (): void => cancel.abort();
  for (const signal of stopSignals()) process.on(signal, onSignal);
  try {
    return await withRun(run, storeHost, async (store) => {
      const stored = await store.loadRun();
      const { others, filter, selection } = await selectionAsked(store, stored, flags);
      const { total } = await store.countPredictions(selection);
      const fileName = exportFileName({
        runName: stored.description.name,
        model: stored.plan.model,
        format: formatNamed(flags.format),
        scope: exportScope(filter),
        sequences: total,
        state: stored.state,
      });
      const path = resolve(flags.output ?? fileName);
      const showsProgress = process.stderr.isTTY && flags.quiet !== true;
      const written = await exportResults(store, {
        selection,
        others,
        sort: sortOf(flags.sort),
        format: flags.format,
        language: flags.language,
        path,
        environment: async () => unwrap(await openEngine({ python: flags.python, storeHost })).environment,
        signal: cancel.signal,
        onProgress: ({ done, total: all }) => {
          if (showsProgress && all > 0) process.stderr.write(`\r${Math.floor((100 * done) / all)} % `);
        },
      });
      if (showsProgress) process.stderr.write('\r');
      if (flags.json === true) process.stdout.write(`${JSON.stringify({ path, ...written })}\n`);
      else if (flags.quiet !== true)
        toStandardError(
          (formatNamed(flags.format).isOfWholeRun ? '' : `${formatCount(written.sequences)} sequences, `) +
            `${formatBytes(written.bytes)}: ${path}`,
        );
      return EXIT.done;
    });
  } catch (reason) {
    if (!cancel.signal.aborted) throw reason;
    toStandardError('Cancelled; nothing was written.');
    return EXIT.interrupted;
  } finally {
    for (const signal of stopSignals()) process.off(signal, onSignal);
  }
}
