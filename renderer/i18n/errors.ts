import { appError, errorCodeSchema } from '../../electron/contract/index.ts';
import type { ShownError } from '../api/callError.ts';
import { CATALOGUES, type Language } from './index.ts';

/**
 * Title and next step of an error in the window. A next step that the engine wrote for this very case is kept if the window
 * shows English, the engine's language. A next step with a key is translated by `useErrorTexts`.
 */
export function errorWords(error: ShownError, language: Language): { title: string; next: string } {
  // Where the engine advises typing a command, the window has a button for it.
  const words: Readonly<Record<string, string | undefined>> = CATALOGUES[language];
  const isGeneral =
    language !== 'en' || error.nextStep === generalNextStep(error.code) || speaksOfCommands(error.nextStep);
  return {
    title: words[`error.${error.code}.title`] ?? error.title,
    next: (isGeneral ? words[`error.${error.code}.next`] : undefined) ?? error.nextStep,
  };
}

const speaksOfCommands = (text: string) => /"virnucpro |(^|\s)--[a-z]/.test(text);

function generalNextStep(code: ShownError['code']): string | null {
  const known = errorCodeSchema.safeParse(code);
  return known.success ? appError(known.data, '').nextStep : null;
}

export function titleOfCode(code: string, language: Language): string | null {
  const known = errorCodeSchema.safeParse(code);
  return known.success ? errorWords(appError(known.data, ''), language).title : null;
}
