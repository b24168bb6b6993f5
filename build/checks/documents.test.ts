/**
 * Checks that the commands, flags, links and files named in the documents and in the program's own texts exist.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import type { Command } from 'commander';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { commands } from '../../electron/cli/commandLine.ts';
import { temporaryFolder } from '../../electron/engine/testing/testContext.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })].map((file) =>
  file.replaceAll('\\', '/'),
);
/** Sources whose texts recommend commands. */
const TEXTS = [
  ...globSync('electron/{contract,engine,cli}/**/*.ts', {
    cwd: root,
    exclude: ['**/*.test.ts', '**/testing/**'],
  }),
  ...globSync('renderer/i18n/{en.ts,de.json}', { cwd: root }),
];
const scripts = Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts);
const program = commands({ exitCode: 0 });

/** Extracts the code of a document, from blocks and within lines. */
function code(text: string): string[] {
  const blocks = [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
    block.split('\n'),
  );
  const inline = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(
    ([, span = '']) => span,
  );
  return [...blocks, ...inline].map((line) => line.replace(/\s+#\s.*$/, ''));
}

const subcommand = (words: readonly string[]): Command | undefined => {
  const found = program.commands.find((command) => command.name() === words[0]);
  return found?.commands.find((command) => command.name() === words[1]) ?? found;
};

/** Why the program would refuse this command line; undefined if it would accept it. */
function refusal(line: string): string | undefined {
  const words = line.split(/\s+/).filter((word) => word !== '');
  const [name = ''] = words;
  if (!/^[a-z][a-z-]*$/.test(name)) return undefined;
  // The options of slurm-script are those of sbatch.
  if (name === 'help' || name === 'slurm-script') return undefined;
  const command = subcommand(words);
  if (!command) return `there is no command "${name}"`;
  const known = [...command.options, ...program.options].flatMap(({ long, short }) => [long, short]);
  const unknown = words.find(
    (word) =>
      /^(--[a-z]|-[a-zA-Z]$)/.test(word) && !known.includes(word.split('=')[0] ?? '') && word !== '--help',
  );
  return unknown && `"${name}" has no ${unknown}`;
}

const calls = (text: string): string[] =>
  [
    ...text.matchAll(
      /(?:^|[^\w./-])(?:npm run virnucpro -- |virnucpro )((?:[a-z][a-z-]*)(?: [^\s`"'()|;,…]+)*)/gm,
    ),
  ].map(([, call = '']) => call);

/** Collects the faults of each document under its name. */
const faults = (files: readonly string[], wrongIn: (text: string, file: string) => string[]): string[] =>
  files.flatMap((file) => wrongIn(read(file), file).map((fault) => `${file}: ${fault}`));

it('documents name commands, flags and scripts that exist', () => {
  expect(code(read('docs/command-line.md')).flatMap(calls).length).toBeGreaterThan(20);
  const wrong = faults(DOCUMENTS, (text) => [
    ...code(text)
      .flatMap(calls)
      .flatMap((call) => refusal(call) ?? []),
    ...[...text.matchAll(/npm run ([\w:-]+)/g)]
      .map(([, script = '']) => script)
      .filter((script) => !scripts.includes(script)),
  ]);
  expect(wrong).toEqual([]);
});

it('documents link to files and headings that exist', () => {
  const headings = (target: string) =>
    [...read(target).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    );
  const broken = faults(DOCUMENTS, (text, file) =>
    [...text.matchAll(/\]\(((?!https?:|mailto:)[^)\s]+)\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => {
        const [path = '', heading] = link.split('#');
        const target = path === '' ? file : posix.join(dirname(file), path);
        return (
          !existsSync(join(root, target)) || (heading !== undefined && !headings(target).includes(heading))
        );
      }),
  );
  expect(broken).toEqual([]);
});

it('tables of documents are whole: none begins without the line below its heading', () => {
  const cut = faults(DOCUMENTS, (text) =>
    [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/(?:^|\n\n)(\|.*)\n(.*)/g)].flatMap(
      ([, first = '', second = '']) => (/^[|: -]+$/.test(second) ? [] : [first]),
    ),
  );
  expect(cut).toEqual([]);
});

it('documents name files of this repository that exist', () => {
  const gone = faults(DOCUMENTS, (text) => {
    const spans = code(text);
    const paths = spans.flatMap((span) =>
      [
        ...span.matchAll(
          /(?:^|\s)((?:build|docs|e2e|electron|packaging|python-backend|renderer|resources)\/[\w./*{},-]*\w)/g,
        ),
      ].map(([, path = '']) => path),
    );
    // docs/security.md shortens paths below electron/.
    const shortened = spans.flatMap((span) =>
      [...span.matchAll(/^(?:main|preload|server|engine|contract|cli)\/[\w./-]+\.ts$/g)].map(
        ([path]) => `electron/${path}`,
      ),
    );
    return [...paths, ...shortened].filter(
      (path) => globSync([path, `${path}.*`], { cwd: root }).length === 0,
    );
  });
  expect(gone).toEqual([]);
});

it('the program recommends only commands and flags that exist', () => {
  let found = 0;
  const wrong = TEXTS.flatMap((file) =>
    [...read(file).matchAll(/["“„`']virnucpro ((?:[a-z][a-z-]*)(?: [^\s`"'“”„)]+)*)/g)].flatMap(
      ([, call = '']) => {
        found += 1;
        const why = refusal(call);
        return why === undefined ? [] : [`${file}: ${why}`];
      },
    ),
  );
  expect(wrong).toEqual([]);
  expect(found).toBeGreaterThan(10);
});

it('documents and workflows start TypeScript by npm, since the Node at hand may be too old for it', () => {
  const files = globSync(['**/*.md', '.github/workflows/*.yml'], {
    cwd: root,
    exclude: ['**/node_modules', '**/.venv', 'shared'],
  });
  expect(files.length).toBeGreaterThan(40);
  expect(faults(files, (text) => text.match(/(?<![-\w/]|run )node (?:--\S+ )*\S+\.ts\b/g) ?? [])).toEqual([]);
});

it('systemd accepts the unit in docs/servers.md', async ({ skip }) => {
  const unit = /```ini\n([^]*?)```/.exec(read('docs/servers.md'))?.[1] ?? '';
  const program = '%h/virnucpro/bin/virnucpro';
  expect(unit).toContain(`ExecStart=${program} serve`);
  const folder = temporaryFolder();
  const file = join(folder, 'virnucpro.service');
  // systemd-analyze checks that the program exists.
  writeFileSync(file, unit.replace(program, process.execPath));
  const verified = await execa('systemd-analyze', ['verify', '--user', file], {
    env: { XDG_RUNTIME_DIR: folder },
    reject: false,
    all: true,
  });
  if (verified.code === 'ENOENT') skip('there is no systemd-analyze here');
  // It also exits with 0 if it ignores unknown settings.
  expect(verified.all).toBe('');
});
