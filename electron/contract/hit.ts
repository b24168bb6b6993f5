import type { SequenceResult } from './columns.ts';
import { createFormats } from './format.ts';
import type { Language } from './problems.ts';

type Hit = Pick<
  SequenceResult,
  | ('nChunksViral' | 'nChunksScored' | 'length' | 'tooShort')
  | ('terminalRepeat' | 'terminalRepeatLength' | 'prediction')
>;

/** What is known of a sequence besides its score, for people: "6 of 6 chunks viral, 3,000 bp, no terminal repeat". */
export function hitText(
  hit: Hit,
  { isControl, language }: { isControl: boolean; language: Language },
): string {
  const { integer, bases } = createFormats(language === 'de' ? 'de-DE' : 'en-GB');
  const words = WORDS[language];
  const { terminalRepeat: repeat, terminalRepeatLength } = hit;
  return [
    words.viral(integer(hit.nChunksViral), integer(hit.nChunksScored), hit.nChunksScored),
    bases(hit.length),
    ...(hit.tooShort ? [words.tooShort] : []),
    repeat === null ? words.noRepeat : `${repeat} (${bases(terminalRepeatLength ?? 0)})`,
    ...(isControl ? [words.inControl] : []),
  ].join(', ');
}

const WORDS = {
  en: {
    viral: (part: string, whole: string, count: number) =>
      `${part} of ${whole} ${count === 1 ? 'chunk' : 'chunks'} viral`,
    tooShort: 'too short to be believed',
    noRepeat: 'no terminal repeat',
    inControl: 'in a negative control',
  },
  de: {
    viral: (part: string, whole: string, count: number) =>
      count === 1 ? `${part} von ${whole} Stück viral` : `${part} von ${whole} Stücken viral`,
    tooShort: 'zu kurz, um sich darauf zu verlassen',
    noRepeat: 'keine Endwiederholung',
    inControl: 'in einer Negativkontrolle',
  },
};
