/** `npm run bench -- NAME [ARGUMENTS...]`: runs a benchmark in the folder in which the command was typed. */
import { join } from 'node:path';
import { execa } from 'execa';

const PYTHON = 'build/python.ts';
const BUNDLED = 'build/checks/runBundled.ts';
const BENCHMARKS: Readonly<Record<string, readonly string[]>> = {
  predict: [PYTHON, 'benchmarks.predict'],
  gpu: [PYTHON, 'benchmarks.encoders'],
  cpu: [PYTHON, 'benchmarks.cpu'],
  ui: ['e2e/benchmarks/benchWindow.ts'],
  results: [BUNDLED, 'electron/engine/store/benchmarks/benchResults.ts'],
  shares: [BUNDLED, 'electron/engine/run/benchmarks/benchShares.ts'],
  answer: [BUNDLED, 'electron/cli/testing/benchAnswer.ts'],
  long: [BUNDLED, 'electron/cli/testing/benchLong.ts'],
};

const [name = '', ...args] = process.argv.slice(2);
const [script, ...first] = BENCHMARKS[name] ?? [];
if (script === undefined) {
  process.stderr.write(`Name a benchmark: ${Object.keys(BENCHMARKS).join(', ')}.\n`);
  process.exitCode = 1;
} else {
  const file = join(import.meta.dirname, '..', script);
  const { exitCode } = await execa(process.execPath, [file, ...first, ...args], {
    stdio: 'inherit',
    reject: false,
  });
  process.exitCode = exitCode ?? 1;
}
