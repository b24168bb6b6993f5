import { useCallback } from 'react';
import type { Message, Wording } from '../../electron/contract/index.ts';
import type { ShownError } from '../api/callError.ts';
import { errorWords } from '../i18n/errors.ts';
import { inOwnWords } from '../i18n/engineTexts.ts';
import { useTexts } from '../i18n/index.ts';
import { deviceTitle, useKnownDevice } from './runs/deviceLabels.ts';

/** Translates the engine's messages to the window's language, with the window's names for devices. */
export function useEngineTexts(): (message: Message) => string {
  const ownWords = useOwnWords();
  return useCallback(({ text, wording }) => (wording && ownWords(wording)) ?? text, [ownWords]);
}

/** Translates several sentences at once; keeps the engine's text if this language lacks one of them. */
export function useSequenceTexts(): (message: { sentence: string; wordings: readonly Wording[] }) => string {
  const ownWords = useOwnWords();
  return useCallback(
    ({ sentence, wordings }) => {
      const own = wordings.map(ownWords);
      return own.length === 0 || own.includes(null) ? sentence : own.join(' ');
    },
    [ownWords],
  );
}

function useOwnWords(): (wording: Wording) => string | null {
  const texts = useTexts();
  const known = useKnownDevice();
  return useCallback(
    (wording) =>
      inOwnWords(wording, texts, (id) => {
        const device = known(id) ?? (id.startsWith('cpu:') ? { id, index: null, place: null } : null);
        return device && deviceTitle(device, texts.t);
      }),
    [texts, known],
  );
}

export interface ErrorTexts {
  readonly title: string;
  /** Null if the cause exists only in another language: it then appears in the detail. */
  readonly cause: string | null;
  readonly next: string;
  readonly detail: string | null;
}

/** Translates an error to the language of the window, wherever its texts have keys. */
export function useErrorTexts(): (error: ShownError) => ErrorTexts {
  const { language } = useTexts();
  const ownWords = useOwnWords();
  return useCallback(
    (error) => {
      const { title, next } = errorWords(error, language);
      const cause = error.wording?.cause && ownWords(error.wording.cause);
      const nextStep = error.wording?.nextStep && ownWords(error.wording.nextStep);
      const isForeign = !cause && language !== 'en';
      const detail = [...(isForeign ? [error.cause] : []), ...(error.detail ? [error.detail] : [])].join(
        '\n',
      );
      return {
        title,
        // The sentence of some problems is their title.
        cause: isForeign || cause === `${title}.` ? null : (cause ?? error.cause),
        next: nextStep ?? next,
        detail: detail === '' ? null : detail,
      };
    },
    [language, ownWords],
  );
}
