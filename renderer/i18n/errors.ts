import type { ShownError } from '../api/callError.ts';
import { CATALOGUES, type Language } from './index.ts';

/**
 * Title and next step of an error in the window. A next step that the engine wrote for this very case is kept if the window
 * shows English, the engine's language. A next step with a key is translated by `useErrorTexts`.
 */
export function errorWords(
  { code, nextStep }: ShownError,
  language: Language,
): { title: string; next: string } {
  const words = CATALOGUES[language];
  // Where the engine advises typing a command, the window has a button for it.
  const isGeneral = language !== 'en' || speaksOfCommands(nextStep);
  return { title: words[`error.${code}.title`], next: isGeneral ? words[`error.${code}.next`] : nextStep };
}

const speaksOfCommands = (text: string) => /"virnucpro |(^|\s)--[a-z]/.test(text);
