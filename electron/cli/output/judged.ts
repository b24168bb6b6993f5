import { advisedLook, judgedOf, type JudgedFiles } from '../../contract/looks.ts';
import type { InspectedFile } from '../../contract/protocol/index.ts';
import { formatCount, formatPercent } from '../../engine/index.ts';

/** What chunks of each length can judge of these files, and what they cost; nothing without a sequence. */
export async function judgedLines(
  files: readonly InspectedFile[],
  looks: readonly string[],
  timeOf: (judged: JudgedFiles) => Promise<string | null> = () => Promise.resolve(null),
): Promise<string[]> {
  const advised = advisedLook(files, looks)?.look;
  const lines = looks.map(async (look) => {
    const judged = judgedOf(files, look);
    if (!judged) return [];
    const { sequences, ofSequences, bases, ofBases, residues } = judged;
    const cost = [`${formatCount(residues)} residues to compute`, await timeOf(judged)];
    return [
      `  ${look}: ${formatPercent(sequences / ofSequences)} of the sequences, ${formatPercent(bases / ofBases)} of the bases; ` +
        cost.filter((text) => text !== null).join(', ') +
        (look === advised ? ' (advised)' : ''),
    ];
  });
  const found = (await Promise.all(lines)).flat();
  return found.length === 0 ? [] : ['Can be judged with --chunk-length:', ...found];
}
