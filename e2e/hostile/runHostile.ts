/**
 * `node build/checks/runBundled.ts e2e/hostile/runHostile.ts [words]`: gives the command line and the
 * browser-mode server hostile inputs, each in a process of its own, and reports what was executed, what hung
 * and how much memory it used; with `words`, only the cases that have them in their names.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ended, MAIN, virnucpro, waitUntil } from '../../electron/cli/testing/commandLineProcess.ts';
import { makeOutside, pictureOf } from '../../electron/engine/store/testing/hostileFolders.ts';
import { REAL_PYTHON, SAMPLE, WITHOUT_PYTHON } from '../../electron/engine/testing/realFiles.ts';
import { socketClient } from '../../electron/server/testing/socketClient.ts';
import { EngineProcess } from '../support/engineProcess.ts';
import { HOSTILE_FILES } from './hostileFiles.ts';
import { HOSTILE_RUNS } from './hostileRuns.ts';
import { HOSTILE_REQUESTS } from './hostileServe.ts';
import { MemoryWatch, watched } from './watched.ts';

/** A command that takes longer hangs, even on a busy computer. */
const HANGS_MS = 180_000;
const MOST_MEGABYTES = 600;
/** Programs that the program could be tricked into starting; stand-ins replace them. */
const PROGRAMS = [
  'sbatch',
  'squeue',
  'scancel',
  'sacct',
  'scontrol',
  'sinfo',
  'ssh',
  'scp',
  'sftp',
  'xdg-open',
  'ray',
  'uv',
];
/** Output that shows a fault of the program itself. */
const FAULT = /Unexpected error|\n {4}at |Traceback \(most recent/;

if (WITHOUT_PYTHON !== undefined || process.platform !== 'linux') {
  process.stderr.write(`Not run: ${WITHOUT_PYTHON ?? 'it reads what Linux says of processes'}\n`);
  process.exit(1);
}
const only = process.argv[2] ?? '';
const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
process.once('exit', () => {
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const executed = join(folder, 'executed');
const programs = join(folder, 'programs');
mkdirSync(programs);
const tripwire = join(folder, 'tripwire');
writeFileSync(tripwire, `#!/bin/sh\necho "$0 $*" >> '${executed}'\n`);
chmodSync(tripwire, 0o755);
for (const name of PROGRAMS) cpSync(tripwire, join(programs, name));
const env = {
  VIRNUCPRO_DATA_DIR: join(folder, 'data'),
  TRIPWIRE: tripwire,
  PATH: `${programs}:${process.env['PATH'] ?? ''}`,
  NODE_OPTIONS: '',
};

interface Verdict {
  name: string;
  faults: string[];
  peakMegabytes: number;
}
const verdicts: Verdict[] = [];

await main();

async function main(): Promise<void> {
  const wanted = <T extends { name: string }>(all: readonly T[], kind = ''): T[] =>
    all.filter(({ name }) => `${kind}${name}`.includes(only));
  await makeRuns();
  for (const { name, kind, make, commands } of wanted(HOSTILE_RUNS, "a run's folder: ")) {
    const [run, outside] = [join(folder, 'strangers', 'run'), join(folder, 'strangers', 'outside')];
    rmSync(join(folder, 'strangers'), { recursive: true, force: true });
    cpSync(join(folder, kind), run, { recursive: true });
    mkdirSync(outside);
    makeOutside(outside);
    make(run, outside);
    const before = pictureOf(outside).join('\n');
    const verdict = await commandsOf(
      `a run's folder: ${name}`,
      commands.map((words) => [...words, run]),
    );
    if (pictureOf(outside).join('\n') !== before) verdict.faults.push('changed files outside of the folder');
    say(verdict);
  }
  for (const { name, make } of wanted(HOSTILE_FILES)) {
    const theirs = join(folder, 'theirs');
    rmSync(theirs, { recursive: true, force: true });
    mkdirSync(theirs);
    say(await commandsOf(name, await make(theirs, join(folder, 'finished'))));
  }
  await serve(wanted(HOSTILE_REQUESTS, 'serve: '));
  const failed = verdicts.filter(({ faults }) => faults.length > 0);
  const peak = Math.max(0, ...verdicts.map(({ peakMegabytes }) => peakMegabytes));
  process.stdout.write(`largest process: ${peak} MB\n`);
  process.stdout.write(`${verdicts.length - failed.length} passed, ${failed.length} failed\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

/**
 * A paused and a finished run of somebody else. They are made with another data folder, so that this computer
 * does not know them.
 */
async function makeRuns(): Promise<void> {
  const theirs = { ...env, VIRNUCPRO_DATA_DIR: join(folder, 'their-data') };
  const predict = [
    'predict',
    SAMPLE,
    '--model',
    'teaching',
    '--devices',
    'cpu:1',
    '--residues-per-part',
    '4000',
  ];
  const finished = await run([...predict, '-o', join(folder, 'finished')], theirs);
  if (finished.code !== 0) throw new Error(finished.output);
  const scores = join(folder, 'paused', 'work', 'scores');
  const child = virnucpro([...predict, '-o', join(folder, 'paused'), '--python', REAL_PYTHON], {
    env: theirs,
  });
  const end = ended(child);
  await waitUntil(() => existsSync(scores) && readdirSync(scores).length > 0, 'a part is scored');
  child.kill('SIGTERM');
  await end;
}

function run(words: readonly string[], environment = env) {
  const command = [process.execPath, MAIN, ...words, '--python', REAL_PYTHON];
  return watched(command.filter(takesPython(words)), { env: environment, timeoutMs: HANGS_MS });
}

/** Some commands need no Python, and have no flag for it. */
function takesPython(
  words: readonly string[],
): (word: string, at: number, all: readonly string[]) => boolean {
  const none = ['results', 'compare'].includes(words[0] ?? '');
  return (word, at, all) => !none || (word !== '--python' && all[at - 1] !== '--python');
}

async function commandsOf(name: string, commands: readonly (readonly string[])[]): Promise<Verdict> {
  const verdict: Verdict = { name, faults: [], peakMegabytes: 0 };
  for (const words of commands) {
    const { code, output, peakMegabytes } = await run(words);
    const [command = ''] = words;
    verdict.peakMegabytes = Math.max(verdict.peakMegabytes, peakMegabytes);
    if (code === null) verdict.faults.push(`${command} hung`);
    if (FAULT.test(output)) verdict.faults.push(`${command} said: ${output.slice(-600)}`);
    if (output.includes('not yours')) verdict.faults.push(`${command} showed a file outside of the folder`);
  }
  return checked(verdict);
}

function checked(verdict: Verdict): Verdict {
  if (existsSync(executed)) {
    verdict.faults.push(`executed: ${readFileSync(executed, 'utf8').trim()}`);
    rmSync(executed);
  }
  if (verdict.peakMegabytes > MOST_MEGABYTES) verdict.faults.push(`took ${verdict.peakMegabytes} MB`);
  return verdict;
}

function say(verdict: Verdict): void {
  verdicts.push(verdict);
  const { name, faults, peakMegabytes } = verdict;
  process.stdout.write(
    `${faults.length === 0 ? 'ok  ' : 'FAIL'} ${String(peakMegabytes).padStart(5)} MB  ${name}\n`,
  );
  for (const fault of faults) process.stdout.write(`       ${fault.replaceAll('\n', '\n       ')}\n`);
}

async function serve(requests: typeof HOSTILE_REQUESTS): Promise<void> {
  if (requests.length === 0) return;
  const root = join(folder, 'root');
  mkdirSync(root);
  const engine = await EngineProcess.start({
    dataFolder: join(folder, 'served'),
    filesFolder: root,
    python: REAL_PYTHON,
    env,
  });
  try {
    const entrance = await fetch(await engine.address());
    const cookie = entrance.headers.get('set-cookie')?.split(';')[0] ?? '';
    const window = await socketClient(await engine.address());
    const memory = new MemoryWatch(engine.pid);
    for (const { name, attempt } of requests) {
      const faults: string[] = [];
      await attempt({ port: engine.port, cookie, window, root }).catch((reason: unknown) =>
        faults.push(String(reason)),
      );
      say(checked({ name: `serve: ${name}`, faults, peakMegabytes: memory.peakMegabytes }));
    }
    memory.stop();
    window.close();
  } finally {
    await engine.stop();
  }
}
