import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRunStore } from '../engine/store/runStore.ts';
import {
  REAL_PYTHON,
  readTables,
  SAMPLE,
  temporaryFolder,
  WITHOUT_PYTHON,
} from '../engine/testing/testContext.ts';

const MAIN = join(import.meta.dirname, 'main.ts');
const FLAGS = [
  '--model',
  'demo',
  '--devices',
  'cpu:2',
  '--residues-per-part',
  '800',
  '--python',
  REAL_PYTHON,
];

function virnucpro(...args: string[]): ChildProcess {
  return spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) =>
    child.on('exit', (code) => {
      resolve(code);
    }),
  );
}

async function complete(...args: string[]): Promise<void> {
  const child = virnucpro(...args);
  let said = '';
  child.stderr?.on('data', (data) => (said += String(data)));
  child.stdout?.resume();
  const code = await ended(child);
  expect(code, said).toBe(0);
}

/** Python processes that work in the folder. */
function workersOf(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const [command, environment] = ['cmdline', 'environ'].map((file) =>
          readFileSync(`/proc/${pid}/${file}`, 'utf8'),
        );
        return Boolean(
          command?.includes('virnucpro_backend.') && environment?.includes(`VIRNUCPRO_TEST_FOLDER=${folder}`),
        );
      } catch {
        return false;
      }
    });
}

const waitUntil = async (condition: () => boolean, limitMs: number): Promise<void> => {
  for (const begin = Date.now(); !condition() && Date.now() - begin < limitMs;) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

describe.skipIf(WITHOUT_PYTHON ?? process.platform !== 'linux')(
  'kill -9 of the engine',
  { timeout: 240_000 },
  () => {
    it('at any moment loses nothing: resumed, the tables are those of a run that nobody disturbed', async () => {
      const parent = await temporaryFolder();
      const whole = join(parent, 'whole');
      await complete('predict', SAMPLE, '-o', whole, '-q', ...FLAGS);

      const folder = join(parent, 'killed');
      process.env['VIRNUCPRO_TEST_FOLDER'] = folder;
      const start = (): string[] =>
        existsSync(join(folder, 'run.db'))
          ? ['resume', folder, '-q', '--python', REAL_PYTHON]
          : ['predict', SAMPLE, '-o', folder, '-q', ...FLAGS];
      const files = (kind: string): number =>
        existsSync(join(folder, 'work', kind)) ? readdirSync(join(folder, 'work', kind)).length : 0;
      const scored = (more: number) => (): (() => boolean) => {
        const before = files('scores');
        return () => files('scores') >= before + more;
      };
      const exists = (name: string) => (): (() => boolean) => () => existsSync(join(folder, name));
      const moments = [
        exists('.'),
        exists('run.db'),
        () => () => files('shards') > 0,
        exists('logs/worker-cpu-1.log'),
        scored(1),
        scored(2),
        scored(5),
        exists('sequences.tsv.tmp'),
      ];
      for (const moment of moments) {
        const child = virnucpro(...start());
        const end = ended(child);
        const reached = moment();
        await waitUntil(() => reached() || child.exitCode !== null, 20_000);
        await new Promise((resolve) => setTimeout(resolve, 20 * Math.random()));
        child.kill('SIGKILL');
        await end;
        await waitUntil(() => workersOf(folder).length === 0, 5000);
        expect(workersOf(folder), 'no orphan holds a device').toEqual([]);
        if (moment !== moments.at(-1)) expect(child.signalCode, 'killed before its end').toBe('SIGKILL');
      }
      await complete(...start());
      delete process.env['VIRNUCPRO_TEST_FOLDER'];
      expect(await readTables(folder)).toEqual(await readTables(whole));

      const store = await openRunStore(folder, {
        hostEntry: new URL('../engine/store/hostEntry.ts', import.meta.url),
        readOnly: true,
      });
      const { counts, prepared } = await store.loadRun();
      await store.close();
      expect(counts.frames.done).toBe(prepared?.frames);
      expect(counts.shards.done).toBe(prepared?.shards);
    });

    it('answers SIGINT with 130 and SIGTERM with 143, and both can be resumed', async () => {
      const parent = await temporaryFolder();
      for (const [signal, code] of [
        ['SIGINT', 130],
        ['SIGTERM', 143],
      ] as const) {
        const folder = join(parent, signal);
        const child = virnucpro('predict', SAMPLE, '-o', folder, ...FLAGS);
        const end = ended(child);
        await waitUntil(() => existsSync(join(folder, 'work', 'shards', '000003.safetensors')), 20_000);
        child.kill(signal);
        expect(await end).toBe(code);
        await complete('resume', folder, '-q', '--python', REAL_PYTHON);
      }
    });
  },
);
