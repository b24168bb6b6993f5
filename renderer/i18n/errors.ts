import { appError, errorCodeSchema } from '../../electron/contract/index.ts';
import type { ShownError } from '../api/callError.ts';
import { CATALOGUES, type Language } from './index.ts';

/**
 * Title and next step as the window says them. A next step that the engine wrote for this very case stays as it is where the
 * engine's language is the window's; one with a key is said by its key, elsewhere.
 */
export function errorWords(error: ShownError, language: Language): { title: string; next: string } {
  // Where the engine's advice is to type a command, the window has a button for it.
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

/** The title of an error as this window has it. */
export function titleOfCode(code: string, language: Language): string | null {
  const known = errorCodeSchema.safeParse(code);
  return known.success ? errorWords(appError(known.data, ''), language).title : null;
}
