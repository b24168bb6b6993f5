import { message, type Message } from '../../contract/messages.ts';
import type { ImportedEmbeddings } from '../../contract/plan.ts';
import { formatCount } from '../../contract/terminal/format.ts';

/** Describes what was reused from an earlier run, and how that affects the results. */
export function describeImported(imported: ImportedEmbeddings): Message {
  const { folder, tool, precision, frames, framesEsm2, framesDnabertS } = imported;
  return message('note.imported', {
    folder,
    tool: message(`imported.${tool}`),
    precision: precision ?? message('imported.unknown'),
    frames: formatCount(frames),
    esm2: formatCount(framesEsm2),
    dnabertS: formatCount(framesDnabertS),
  });
}

/** The files that were not used, one per line. */
export function refusedFiles({ refused, filesRefused }: ImportedEmbeddings): string[] {
  const more = filesRefused - refused.length;
  return [
    ...refused.map(({ path, why }) => `Not used: ${path}: ${why}.`),
    ...(more > 0 ? [`Not used: ${more} more files.`] : []),
  ];
}
