import type { GetICUArgs } from '@schummar/icu-type-parser';
import { FormatError, IntlMessageFormat } from 'intl-messageformat';
import { createContext, useContext } from 'react';
import {
  columnTexts,
  errorCodeSchema,
  MESSAGES,
  wordsOf,
  type ColumnText,
  type ErrorCode,
  type Settings,
} from '../../electron/contract/index.ts';
import de from './de.json' with { type: 'json' };
import en from './en.ts';
import { createFormats, type Formats } from '../../electron/contract/format.ts';

type English = typeof en & Readonly<Record<ColumnText, ''>>;
export type MessageKey = keyof English;
type ProblemKey = `error.${ErrorCode}.${'title' | 'sentence' | 'next'}`;
type CatalogueKey = MessageKey | `engine.${keyof typeof MESSAGES}` | ProblemKey;
export type Messages = Readonly<Record<CatalogueKey, string>>;
export type Language = Settings['language'];
type MessageValues = Record<string, string | number>;

/** The variables of each message, which the type checker reads from the English text. */
type Variables = {
  [Key in MessageKey]: GetICUArgs<English[Key], { ICUArgument: string | number; ICUNumberArgument: number }>;
};
/** Where the key is one of several, all their variables: any of the messages may be the one that is shown. */
type VariablesOfAll<Key extends MessageKey> = (
  Key extends Key ? (variables: Variables[Key]) => void : never
) extends (variables: infer All extends MessageValues) => void
  ? All
  : never;
type Values<Key extends MessageKey> = keyof VariablesOfAll<Key> extends never
  ? []
  : [values: VariablesOfAll<Key>];

export interface Texts {
  readonly language: Language;
  readonly t: <Key extends MessageKey>(key: Key, ...values: Values<Key>) => string;
  /**
   * The message of a key that is known at run time only, such as one made from a code of the engine; null if the catalogue
   * lacks it or one of its variables has no value, as in what an older engine wrote. Without values, the message as written.
   */
  readonly lookUp: (key: string, values?: MessageValues) => string | null;
  readonly format: Formats;
}

/** Messages that the engine sends by key are in the contract. en.ts has one only where the window needs another text: it names
 * buttons where the terminal names commands, and speaks of sequences where a log counts parts. */
const fromEngine = Object.fromEntries(
  Object.entries(MESSAGES).map(([key, text]) => [`engine.${key}`, typeset(text)]),
) as Record<`engine.${keyof typeof MESSAGES}`, string>;

/** The words of every problem; en.ts has its own only where it names buttons. */
const wordsOfProblems = (language: Language) =>
  Object.fromEntries(
    errorCodeSchema.options.flatMap((code) =>
      Object.entries(wordsOf(code, language)).map(([part, text]) => [
        `error.${code}.${part}`,
        typeset(text.replace('{count}', '{count, number}')),
      ]),
    ),
  ) as Record<ProblemKey, string>;

/** Turns straight quotation marks, as a terminal shows them, into typographic ones. */
function typeset(text: string): string {
  return text.replaceAll(/"([^"]*)"/g, '“$1”').replaceAll("'", '’');
}

export const CATALOGUES: Record<Language, Messages> = {
  en: { ...fromEngine, ...wordsOfProblems('en'), ...columnTexts('en'), ...en },
  de: { ...wordsOfProblems('de'), ...columnTexts('de'), ...de },
};

/** Numbers and dates follow the window's language, not the system's: the two would contradict each other. */
const LOCALES: Record<Language, string> = { en: 'en-GB', de: 'de-DE' };

export function createTexts(language: Language): Texts {
  const catalogue: Readonly<Record<string, string | undefined>> = CATALOGUES[language];
  const parsed = new Map<string, IntlMessageFormat>();
  const say = (key: string, pattern: string, values?: MessageValues) => {
    if (!values) return pattern;
    let message = parsed.get(key);
    if (!message) {
      message = new IntlMessageFormat(pattern, LOCALES[language]);
      parsed.set(key, message);
    }
    return String(message.format(values));
  };
  return {
    language,
    t: (key, ...[values]) => say(key, CATALOGUES[language][key], values),
    lookUp: (key, values) => {
      const pattern = catalogue[key];
      if (pattern === undefined) return null;
      try {
        return say(key, pattern, values);
      } catch (error) {
        if (error instanceof FormatError) return null;
        throw error;
      }
    },
    format: createFormats(LOCALES[language]),
  };
}

export const TextsContext = createContext<Texts>(createTexts('en'));

export const useTexts = () => useContext(TextsContext);
