import { chunkLengthsText, isSecondLength } from './plan.ts';
import { isBlocking } from './problems.ts';
import type { InspectedFile, Judged } from './protocol/index.ts';

/** All that models for these chunk lengths allow. A look is what `--chunk-length` takes: `500`, or `500+300`. */
export function looksOf(chunkLengths: readonly number[]): string[] {
  const lengths = [...new Set(chunkLengths)].toSorted((a, b) => b - a);
  const pairs = lengths.flatMap((first) =>
    lengths
      .filter((second) => isSecondLength(second, first))
      .map((second) => chunkLengthsText({ chunkLength: first, secondLook: { chunkLength: second } })),
  );
  return [...lengths.map(String), ...pairs];
}

/** What a look judges of files that can be used, and the sequences and bases that they hold. */
export interface JudgedFiles extends Judged {
  readonly look: string;
  readonly ofSequences: number;
  readonly ofBases: number;
}

/** Null if no file has sequences, or one was not looked into. */
export function judgedOf(files: readonly InspectedFile[], look: string): JudgedFiles | null {
  const total = { sequences: 0, bases: 0, shorter: 0, chunks: 0, frames: 0, residues: 0 };
  let [ofSequences, ofBases] = [0, 0];
  for (const { judged, sequences, bases, problems } of files) {
    if (problems.some(isBlocking)) continue;
    const own = judged[look];
    if (!own) return null;
    ofSequences += sequences;
    ofBases += bases;
    for (const key of ['sequences', 'bases', 'shorter', 'chunks', 'frames', 'residues'] as const)
      total[key] += own[key];
  }
  return ofSequences === 0 ? null : { look, ...total, ofSequences, ofBases };
}

/** Share of all sequences that a second look must add to be advised. It is chosen, not measured. */
const CLEARLY_MORE = 0.05;

/**
 * The advised look, of those that were looked into: a second one if it judges clearly more than the longest
 * chunks alone, else the longest chunks that are no longer than half of the sequences. Null if nothing is known.
 */
export function advisedLook(files: readonly InspectedFile[], looks: readonly string[]): JudgedFiles | null {
  const found = looks.flatMap((look) => judgedOf(files, look) ?? []);
  const [pairs, single] = [found.filter(isPair), found.filter((one) => !isPair(one))];
  const [longest, ...others] = single.toSorted((a, b) => Number(b.look) - Number(a.look));
  if (!longest) return null;
  const [most] = pairs.toSorted((a, b) => b.sequences - a.sequences);
  if (most && most.sequences - longest.sequences >= CLEARLY_MORE * most.ofSequences) return most;
  const fitting = [longest, ...others].find(({ shorter, ofSequences }) => 2 * shorter <= ofSequences);
  return fitting ?? others.at(-1) ?? longest;
}

const isPair = ({ look }: JudgedFiles): boolean => look.includes('+');
