/** `npm run bench -- NAME [ARGUMENTS...]`: runs a benchmark in the folder in which the command was typed. */
import { join } from 'node:path';
import { execa } from 'execa';

const PYTHON = 'build/python.ts';
const BENCHMARKS: Readonly<Record<string, readonly string[]>> = {
  encoders: [PYTHON, 'benchmarks.encoders'],
  predict: [PYTHON, 'benchmarks.predict'],
  long: ['build/checks/runBundled.ts', 'electron/cli/testing/benchLong.ts'],
  window: ['e2e/benchmarks/benchWindow.ts'],
  edges: ['build/checks/runBundled.ts', 'electron/cli/testing/benchEdges.ts'],
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
