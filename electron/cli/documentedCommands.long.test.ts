/**
 * Runs the commands shown in docs/command-line.md and "If something goes wrong" unchanged and in order, in a
 * folder with the files that they name.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { APP_PATHS, REAL_PYTHON, SAMPLE, WITHOUT_PYTHON } from '../engine/testing/realFiles.ts';
import { temporaryFolder } from '../engine/testing/testContext.ts';
import { ended, succeeds, virnucpro } from './testing/commandLineProcess.ts';

/** Commands that download gigabytes, never end, or need another tool's files or a cluster have tests of their own. */
const ELSEWHERE = [
  'setup',
  'pack-offline',
  'import-legacy',
  'merge',
  'calibrate',
  'serve',
  'doctor --repair',
  'resume out --slurm SCRIPT',
];

/** The published weights are not available in tests. */
const WITH_TEACHING_MODEL = /^(predict contigs[.]fa|check precision|check controls$)/;

const read = (file: string): string => readFileSync(join(APP_PATHS.root, file), 'utf8');
const inBlocks = [...read('docs/command-line.md').matchAll(/^virnucpro ([^#\n]+)/gm)];
const inLines = [...read('docs/troubleshooting.md').matchAll(/`virnucpro ([^`\n]+)`/g)];
const commands = [
  ...new Set([...inBlocks, ...inLines].map(([, command = '']) => command.trim().replace('FOLDER', 'out'))),
];
const isElsewhere = (command: string): boolean =>
  ELSEWHERE.some((name) => command === name || command.startsWith(`${name} `));

describe.skipIf(WITHOUT_PYTHON)('the documented commands', () => {
  let folder: string;
  beforeAll(async () => {
    folder = temporaryFolder();
    copyFileSync(SAMPLE, join(folder, 'contigs.fa'));
    writeFileSync(
      join(folder, 'reads.fq.gz'),
      gzipSync(`@read\n${'ACGTTGCA'.repeat(50)}\n+\n${'I'.repeat(400)}\n`),
    );
    await succeeds([
      ...['predict', SAMPLE, '-o', join(folder, 'other'), '--model', 'teaching', '--python', REAL_PYTHON],
    ]);
  });

  it.each(commands.filter((command) => !isElsewhere(command)))('%s', async (command) => {
    const env = { VIRNUCPRO_PYTHON: REAL_PYTHON, VIRNUCPRO_DATA_DIR: join(folder, 'data') };
    const shell = `cd '${folder}'`;
    const words = WITH_TEACHING_MODEL.test(command) ? `${command} --model teaching` : command;
    // The documents show them for the folder of a checkout.
    const args = [...words.matchAll(/"([^"]*)"|(\S+)/g)]
      .map(([, quoted, bare = '']) => quoted ?? bare)
      .map((word) => (word === 'resources/example.fa' ? join(APP_PATHS.root, word) : word));
    const { code, output } = await ended(virnucpro(args, { shell, env }));
    expect(code, output).toBe(0);
  });
});
