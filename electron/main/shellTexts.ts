import type { GetICUArgs } from '@schummar/icu-type-parser';
import { IntlMessageFormat } from 'intl-messageformat';
import type { Settings } from '../contract/rpc/computer.ts';
import de from '../../renderer/i18n/de.json' with { type: 'json' };
import en from '../../renderer/i18n/en.ts';

type ShellKey = Extract<keyof typeof en, `shell.${string}`>;
type Values<Key extends ShellKey> = GetICUArgs<
  (typeof en)[Key],
  { ICUArgument: string | number; ICUNumberArgument: number }
>;
/** What the desktop shows outside the page: the texts `shell.*` of the window's catalogues. */
export type ShellTexts = <Key extends ShellKey>(
  key: Key,
  ...values: keyof Values<Key> extends never ? [] : [values: Values<Key>]
) => string;

const CATALOGUES = { en, de };
const LOCALES = { en: 'en-GB', de: 'de-DE' };

export function shellTexts(language: Settings['language']): ShellTexts {
  return (key, ...[values]) =>
    String(new IntlMessageFormat(CATALOGUES[language][key], LOCALES[language]).format(values));
}
