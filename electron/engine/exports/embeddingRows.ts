import { exportFormat } from './format.ts';
import { appError, AppFailure } from '../../contract/errors.ts';
import { cellText } from '../results/inputLabels.ts';
import type { ExportSource } from './exportSource.ts';
import type { WholeFile } from './wholeFile.ts';

/**
 * Lists which row of which file below work/embeddings holds which reading frame, because the files themselves
 * have no names.
 */
async function writeEmbeddingRows(source: ExportSource, file: WholeFile): Promise<void> {
  const { store, run } = source;
  if (run.plan.embeddings === null) {
    throw new AppFailure(
      appError('usage', 'This run kept no embeddings.', {
        nextStep:
          'They are kept by runs that are started with --embeddings, or "Keep embeddings" in the window.',
      }),
    );
  }
  await file.write('file\trow\tno\tid\tsample\tstart\tend\tframe\n');
  for (const { key } of await store.partsIn('done')) {
    source.signal?.throwIfAborted();
    const lines = (await store.framesOf(key)).map(({ row, name, input, length, chunk, frame }, place) => {
      const { start, end } = source.bounds({ length }, chunk);
      const sample = cellText(source.samples[input] ?? '');
      return `embeddings/${key}.safetensors\t${place}\t${row + 1}\t${name}\t${sample}\t${start + 1}\t${end}\t${frame}\n`;
    });
    await file.write(lines.join(''));
  }
}

export const embeddings = exportFormat(
  'embeddings',
  'summaries',
  {
    en: [
      'Index of the embeddings (TSV)',
      'Which row of which file of the run’s work/embeddings folder belongs to which reading frame',
    ],
    de: [
      'Verzeichnis der Embeddings (TSV)',
      'Welche Zeile welcher Datei im Ordner work/embeddings des Laufs zu welchem Leserahmen gehört',
    ],
  },
  ({ source, file }) => writeEmbeddingRows(source, file),
  { ending: '_embeddings.tsv', isOfWholeRun: true, needsEmbeddings: true },
);
