import { IntlMessageFormat } from 'intl-messageformat';
import { describe, expect, it } from 'vitest';
import { CATALOGUES, createTexts, type MessageKey } from './index.ts';

type Parsed = ReturnType<IntlMessageFormat['getAst']>;

function argumentsOf(elements: Parsed, found = new Set<string>()): Set<string> {
  for (const element of elements) {
    if ('value' in element && !isPlainText(element)) found.add(element.value);
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
  const keys = Object.keys(CATALOGUES.en) as MessageKey[];

  it('use the same placeholders in every language', () => {
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
    // Where the window has no text for an error, it shows the engine's, which is English.
    const shared = Object.keys(CATALOGUES.de).filter(
      (key) => !key.startsWith('error.') || keys.includes(key as MessageKey),
    );
    expect(shared.toSorted()).toEqual(keys.toSorted());
  });

  it('use plural forms as the grammar of the language requires', () => {
    expect(createTexts('en').t('device.partsDone', { count: 1 })).toBe('1 part done');
    expect(createTexts('en').t('device.partsDone', { count: 1200 })).toBe('1,200 parts done');
    expect(createTexts('de').t('device.partsDone', { count: 1200 })).toBe('1.200 Teile fertig');
  });
});
