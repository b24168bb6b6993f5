import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, expect, it, vi } from 'vitest';
import { inputPathsSchema, runRequestSchema } from '../contract/rpc/runs.ts';
import { common, parsed, passOn, type CommonFlags } from './commonFlags.ts';
import { withDeviceOptions } from './predictCommand.ts';
import { logTo, toLog, toStandardError, toStandardOutput } from './output/terminal.ts';
import { temporaryFolder } from '../engine/testing/temporaryFolder.ts';

afterEach(() => {
  logTo(() => undefined);
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

async function given(...words: string[]): Promise<CommonFlags> {
  const root = common(new Command('virnucpro')).enablePositionalOptions().hook('preAction', passOn);
  let got: CommonFlags = {};
  for (const [name, ...without] of [['status'], ['compute'], ['serve', 'json', 'logFile']] as const)
    common(root.command(name), ...without).action((flags: CommonFlags) => {
      got = flags;
    });
  root
    .command('profile')
    .allowUnknownOption()
    .action(() => undefined);
  await root.parseAsync(words, { from: 'user' });
  return got;
}

it('passes on flags that precede a command, and refuses those that have no effect there', async () => {
  vi.stubEnv('VIRNUCPRO_LOG_LEVEL', 'info');
  expect(await given('--json', 'status', '-v')).toMatchObject({ json: true, verbose: true });
  await expect(given('--json', 'serve')).rejects.toThrow('--json has no effect on "virnucpro serve".');
  await expect(given('-l', 'x', 'serve')).rejects.toThrow('--log-file has no effect');
});

it('makes workers log every batch with --verbose, unless the environment sets another level', async () => {
  vi.stubEnv('VIRNUCPRO_LOG_LEVEL', undefined);
  await given('status');
  expect(process.env['VIRNUCPRO_LOG_LEVEL']).toBeUndefined();
  await given('-v', 'serve');
  expect(process.env['VIRNUCPRO_LOG_LEVEL']).toBe('debug');
  vi.stubEnv('VIRNUCPRO_LOG_LEVEL', 'info');
  await given('status', '-v');
  expect(process.env['VIRNUCPRO_LOG_LEVEL']).toBe('info');
});

it('puts temporary files into the given folder, if it exists', async () => {
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) vi.stubEnv(name, process.env[name]);
  const folder = temporaryFolder();
  await given('compute', '--tmpdir', folder);
  expect(tmpdir()).toBe(folder);
  rmSync(folder, { recursive: true });
  await expect(given('compute', '--tmpdir', folder)).rejects.toThrow(folder);
});

it('logs the output of any command, with the time and without terminal control characters', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'log');
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, 'write').mockReturnValue(true);
  await given('status', '--log-file', path);
  toStandardOutput('an answer');
  toStandardError('a remark');
  toLog('a detail \u001b[2J');
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  rmSync(folder, { recursive: true });
  expect(lines.map((line) => line.replace(/^\S+Z /, ''))).toEqual(['an answer', 'a remark', 'a detail ?[2J']);
});

it('accepts --threads as other tools do', () => {
  const command = withDeviceOptions(new Command('predict'));
  expect(command.parse(['-t', '4'], { from: 'user' }).opts()).toMatchObject({ devices: 'auto:4' });
});

it('refuses an empty input, such as from an unset variable, in plain words, and names the flag of any other value', () => {
  const asked = (request: object) => () => parsed(runRequestSchema, request);
  expect(asked({ inputs: ['a.fa', ''] })).toThrow('Invalid command: The name of an input is empty.');
  expect(() => parsed(inputPathsSchema, [''])).toThrow('The name of an input is empty.');
  expect(parsed(inputPathsSchema, ['a.fa'])).toEqual(['a.fa']);
  expect(asked({ inputs: ['a.fa'], chunkLength: -1 })).toThrow(/--chunkLength: /);
});
