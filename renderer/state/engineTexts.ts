import { useCallback } from 'react';
import type { Wording } from '../../electron/contract/index.ts';
import type { ShownError } from '../api/callError.ts';
import { errorWords } from '../i18n/errors.ts';
import { inOwnWords, type Said } from '../i18n/engineTexts.ts';
import { useTexts } from '../i18n/index.ts';
import { deviceTitle, useKnownDevice } from './runs/deviceLabels.ts';

/** Says what the engine said, in the language of the window and with its names for devices. */
export function useEngineTexts(): (said: Said) => string {
  const ownWords = useOwnWords();
  return useCallback(({ text, wording }) => (wording && ownWords(wording)) ?? text, [ownWords]);
}

/** Several sentences in one; as the engine has them where this language lacks one of them. */
export function useSequenceTexts(): (said: { sentence: string; wordings: readonly Wording[] }) => string {
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
  /** Null where it is known in another language only: then it stands in the detail. */
  readonly cause: string | null;
  readonly next: string;
  readonly detail: string | null;
}

/** An error in the language of the window: what is known by a key is said by it. */
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
        cause: isForeign ? null : (cause ?? error.cause),
        next: nextStep ?? next,
        detail: detail === '' ? null : detail,
      };
    },
    [language, ownWords],
  );
}
