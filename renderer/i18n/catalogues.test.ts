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

/** The parser marks text between the values as type 0, and doesn't export its name for it. */
function isPlainText(element: Parsed[number]): boolean {
  return JSON.stringify(element.type) === '0';
}

describe('message catalogues', () => {
  const keys = Object.keys(CATALOGUES.en) as MessageKey[];

  it.each(keys)('%s takes the same values in every language', (key) => {
    const expected = argumentsOf(new IntlMessageFormat(CATALOGUES.en[key], 'en').getAst());
    for (const catalogue of Object.values(CATALOGUES)) {
      expect(argumentsOf(new IntlMessageFormat(catalogue[key], 'en').getAst())).toEqual(expected);
    }
  });

  it.each(keys)('%s sends nobody to a command line, which the desktop app does not have', (key) => {
    // How a SLURM cluster is asked for GPUs is named by its own options.
    if (key.startsWith('slurm.gpu.')) return;
    for (const catalogue of Object.values(CATALOGUES))
      expect(catalogue[key]).not.toMatch(/virnucpro [a-z]|(^|[\s("„])--[a-z]/);
  });

  it('knows no keys that English lacks', () => {
    expect(Object.keys(CATALOGUES.de).toSorted()).toEqual(keys.toSorted());
  });

  it('counts in the grammar of the language', () => {
    expect(createTexts('en').t('device.partsDone', { count: 1 })).toBe('1 part done');
    expect(createTexts('en').t('device.partsDone', { count: 1200 })).toBe('1,200 parts done');
    expect(createTexts('de').t('device.partsDone', { count: 1200 })).toBe('1.200 Teile fertig');
  });
});
