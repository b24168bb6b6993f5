import { IntlMessageFormat } from 'intl-messageformat';
import { describe, expect, it } from 'vitest';
import { CATALOGUES, createTexts, type MessageKey, type Messages, type Texts } from './index.ts';

type Parsed = ReturnType<IntlMessageFormat['getAst']>;

/** The arguments of a message by name, and whether each has to be a number. */
function argumentsOf(elements: Parsed, found = new Map<string, boolean>()): Map<string, boolean> {
  for (const element of elements) {
    if ('value' in element && !isPlainText(element)) {
      const isNumber = 'offset' in element || 'style' in element;
      found.set(element.value, isNumber || found.get(element.value) === true);
    }
    if ('options' in element)
      for (const option of Object.values(element.options)) argumentsOf(option.value, found);
  }
  return found;
}

/** The parser marks the text between placeholders as type 0, and does not export a name for it. */
function isPlainText(element: Parsed[number]): boolean {
  return JSON.stringify(element.type) === '0';
}

describe('message catalogues', () => {
  const keys = Object.keys(CATALOGUES.en) as (keyof Messages)[];

  it('use the same placeholders in every language, as numbers where the English text does', () => {
    const valuesOf = (text: string) =>
      [...argumentsOf(new IntlMessageFormat(text, 'en').getAst())].sort().join();
    const differing = keys.filter((key) => {
      const expected = valuesOf(CATALOGUES.en[key]);
      return Object.values(CATALOGUES).some((catalogue) => valuesOf(catalogue[key]) !== expected);
    });
    expect(differing).toEqual([]);
  });

  it('never send a user to a command line, which the desktop app does not have', () => {
    const sending = keys.filter((key) =>
      Object.values(CATALOGUES).some((catalogue) =>
        /virnucpro [a-z]|(^|[\s("„])--[a-z]/.test(catalogue[key]),
      ),
    );
    expect(sending).toEqual([]);
  });

  it('have the same keys', () => {
    expect(Object.keys(CATALOGUES.de).toSorted()).toEqual(keys.toSorted());
  });

  it('use plural forms as the grammar of the language requires', () => {
    expect(createTexts('en').t('device.partsDone', { count: 1 })).toBe('1 part done');
    expect(createTexts('en').t('device.partsDone', { count: 1200 })).toBe('1,200 parts done');
    expect(createTexts('de').t('device.partsDone', { count: 1200 })).toBe('1.200 Teile fertig');
  });
});

/** Only the type checker reads it. */
export function variablesAreChecked(
  t: Texts['t'],
  key: MessageKey,
  isLost: boolean,
  place: 'runs' | 'models',
) {
  t('common.of', { part: 1, whole: '2' });
  t('device.partsDone', { count: 1 });
  t(isLost ? 'common.of' : 'common.cancel', { part: 1, whole: 2 });
  t(`nav.${place}`);
  // @ts-expect-error variables without values
  t('common.of');
  // @ts-expect-error a variable without a value
  t('newRun.uploading', { name: 'a.fasta' });
  // @ts-expect-error a value without a variable
  t('common.of', { part: 1, whole: 2, rest: 3 });
  // @ts-expect-error values of a message without variables
  t('common.cancel', {});
  // @ts-expect-error a text where a number decides the plural
  t('device.partsDone', { count: '1' });
  // @ts-expect-error one of the two messages has variables
  t(isLost ? 'common.of' : 'common.cancel');
  // @ts-expect-error a key of which nothing is known may need any variable: lookUp takes it
  t(key);
}
