/** What the documents put in quotation marks is what the window or the program says, in the language of the page. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
type Texts = Readonly<Record<string, string>>;
/** Its texts, of which the window's own types stay out of here. */
const catalogue = async (language: 'en' | 'de'): Promise<Texts> =>
  ((await import(join(root, 'renderer', 'i18n', language, 'index.ts'))) as Record<string, Texts>)[language] ??
  {};
const [en, de] = await Promise.all([catalogue('en'), catalogue('de')]);
const keys = Object.keys(en);
const textOf = (file: string, key: string): string => (isGerman(file) ? de : en)[key] ?? '';
const GUIDE = globSync('docs/guide/*.md', { cwd: root });
const IN_ENGLISH = GUIDE.filter((file) => !file.endsWith('.de.md'));
/** They also quote what errors and the command line say. */
const OTHERS = [
  'README.md',
  ...['troubleshooting', 'troubleshooting.de', 'requirements', 'results', 'scale-out'].map(
    (name) => `docs/${name}.md`,
  ),
];
/** What is said of the word, and groups of Linux accounts. */
const NOT_NAMES = ['not viral', 'nicht viral', 'render', 'video'];

const withoutComments = (source: string): string =>
  source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*(?:\/\/|#).*$|"""[\s\S]*?"""/gm, '');

/** Everything that the program can say; what differs by number or name is left out of the quotations. */
const SAID = [
  ...globSync('electron/{contract,engine,cli}/**/*.ts', { cwd: root, exclude: ['**/*.test.ts'] }),
  ...globSync('python-backend/src/**/*.py', { cwd: root }),
  'renderer/i18n/errors.ts',
]
  .map((file) => withoutComments(read(file)))
  .join('\n');

const isGerman = (file: string): boolean => file.endsWith('.de.md');

/** Without code, on one line. */
const prose = (text: string): string =>
  text
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/`[^`\n]*`/g, '')
    .replaceAll(/\s+/g, ' ');

const quoted = (file: string): string[] =>
  [...prose(read(file)).matchAll(isGerman(file) ? /„([^“]+)“/g : /"([^"]+)"/g)].map(
    ([, words = '']) => words,
  );

/** Names of screens and buttons, and what the page itself calls its paragraphs. */
const bold = (file: string): string[] =>
  [...prose(read(file)).matchAll(/\*\*([^*]+)\*\*/g)].map(([, words = '']) =>
    words.replace(/^\d+\. /, '').replace(/[.,:]$/, ''),
  );

/** Whether the window says just this; a text with plurals says each of its forms. */
const says = (text: string, words: string): boolean => text === words || text.includes(`{${words}}`);
const isInWindow = (file: string, words: string): boolean =>
  keys.some((key) => says(textOf(file, key), words));

it('would find a name that the window does not have', () => {
  expect(isInWindow('docs/guide/files.md', 'Retry with less memory')).toBe(true);
  expect(isInWindow('docs/guide/files.md', 'Retry with smaller batches')).toBe(false);
  expect(isInWindow('docs/guide/files.de.md', 'Weitere Filter')).toBe(true);
  expect(GUIDE.flatMap(quoted).length).toBeGreaterThan(60);
});

it.each([
  ['English', en, /“([A-Z][^”{]+)”/g],
  ['German', de, /„([A-ZÄÖÜ][^“{]+)“/g],
] as const)('texts of the %s window name its own buttons', (_, catalogue, names) => {
  const texts: readonly string[] = Object.values(catalogue);
  const unknown = texts.flatMap((text) =>
    [...text.matchAll(names)].map(([, name = '']) => name).filter((name) => !texts.includes(name)),
  );
  expect(unknown).toEqual([]);
});

it('German has one word for one thing, in the window and in the guide', () => {
  const others = /Einbettung|Leseraster|Computerprüfung|Lesepaar|Virusanteil|Schlagworte\b/;
  expect(Object.entries(de).filter(([, text]) => others.test(text))).toEqual([]);
  expect(GUIDE.filter((file) => others.test(read(file)))).toEqual([]);
});

it.each(GUIDE)('%s quotes the window word for word', (file) => {
  expect(quoted(file).filter((words) => !NOT_NAMES.includes(words) && !isInWindow(file, words))).toEqual([]);
});

it.each(OTHERS)('%s quotes the window or a message', (file) => {
  const unknown = quoted(file).filter(
    (words) => !NOT_NAMES.includes(words) && !isInWindow(file, words) && !messageWith(file, words),
  );
  expect(unknown).toEqual([]);
});

function messageWith(file: string, words: string): boolean {
  // SLURM's own word for a reason stands behind ours.
  const ours = words.replace(/ \([A-Z]\w+\)$/, '');
  return SAID.includes(ours) || keys.some((key) => textOf(file, key).includes(ours));
}

describe.each(IN_ENGLISH)('%s', (file) => {
  const german = file.replace(/\.md$/, '.de.md');

  it.each([
    ['quotes', quoted],
    ['names', bold],
  ] as const)('%s in both languages the same buttons and fields', (_, found) => {
    const [english, ours] = [found(file), found(german)];
    expect(ours).toHaveLength(english.length);
    const other = english.flatMap((words, index) => {
      const named = keys.filter((key) => says(textOf(file, key), words));
      const translated = ours[index] ?? '';
      const fits = named.length === 0 || named.some((key) => says(textOf(german, key), translated));
      return fits ? [] : [`${words}: ${translated}`];
    });
    expect(other).toEqual([]);
  });
});
