import { IntlMessageFormat } from 'intl-messageformat';
import { createContext, useContext } from 'react';
import { MESSAGES, type Settings } from '../../electron/contract/index.ts';
import de from './de.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };
import { createFormats, type Formats } from './format.ts';

export type MessageKey = keyof typeof en | `engine.${keyof typeof MESSAGES}`;
export type Messages = Readonly<Record<MessageKey, string>>;
export type Language = Settings['language'];
type MessageValues = Record<string, string | number>;

export interface Texts {
  readonly language: Language;
  readonly t: (key: MessageKey, values?: MessageValues) => string;
  /** The message if the catalogue has it; used for keys built from the engine's codes. */
  readonly lookUp: (key: string) => string | null;
  readonly format: Formats;
}

/** Messages that the engine sends by key are in the contract. en.json has one only where the window needs another text: it names
 * buttons where the terminal names commands, and speaks of sequences where a log counts parts. */
const fromEngine = Object.fromEntries(
  Object.entries(MESSAGES).map(([key, text]) => [`engine.${key}`, typeset(text)]),
) as Record<`engine.${keyof typeof MESSAGES}`, string>;

/** Turns straight quotation marks, as a terminal shows them, into typographic ones. */
function typeset(text: string): string {
  return text.replaceAll(/"([^"]*)"/g, '“$1”').replaceAll("'", '’');
}

export const CATALOGUES: Record<Language, Messages> = { en: { ...fromEngine, ...en }, de };

/** Numbers and dates follow the window's language, not the system's: the two would contradict each other. */
const LOCALES: Record<Language, string> = { en: 'en-GB', de: 'de-DE' };

export function createTexts(language: Language): Texts {
  const catalogue = CATALOGUES[language];
  const parsed = new Map<MessageKey, IntlMessageFormat>();
  return {
    language,
    t(key, values) {
      if (!values) return catalogue[key];
      let message = parsed.get(key);
      if (!message) {
        message = new IntlMessageFormat(catalogue[key], LOCALES[language]);
        parsed.set(key, message);
      }
      return String(message.format(values));
    },
    lookUp: (key) => (key in catalogue ? catalogue[key as MessageKey] : null),
    format: createFormats(LOCALES[language]),
  };
}

export const TextsContext = createContext<Texts>(createTexts('en'));

export const useTexts = () => useContext(TextsContext);
