/**
 * Processes that do what ours must never do: these are real Python programs, and each has to end in bounded
 * time and memory.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workerEventSchema } from '../../contract/protocol/index.ts';
import type { PythonLaunch } from '../environment/pythonLaunch.ts';
import { REAL_PYTHON, temporaryFolder, WITHOUT_PYTHON } from '../testing/testContext.ts';
import { BackendProcess, type ProcessEvent } from './backendProcess.ts';
import { ChildProcess, ReadingProcess } from './childProcess.ts';

function launch(program: string): PythonLaunch {
  const imports = 'import os, signal, subprocess, sys, time\n';
  return { file: REAL_PYTHON, args: ['-I', '-c', imports + program], env: {} };
}

describe.skipIf(WITHOUT_PYTHON)('a process that', () => {
  it('ignores the order to end is killed', async () => {
    let received = 0;
    const child = new ChildProcess(
      launch(
        `signal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('here', flush=True)\nwhile True: time.sleep(9)`,
      ),
      { line: () => (received += 1) },
    );
    while (received === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await child.stop(100);
    expect(await child.ended).toMatchObject({ signal: 'SIGKILL' });
  });

  it('dies while a child in another session holds its pipes counts as ended', async () => {
    const child = new ChildProcess(
      launch(
        `print('last words', flush=True)\nsubprocess.Popen(['sleep', '100'], start_new_session=True)\nos._exit(3)`,
      ),
      { line: (line) => lines.push(line) },
    );
    const lines: string[] = [];
    expect(await child.ended).toMatchObject({ code: 3 });
    expect(lines).toEqual(['last words']);
  });

  it('ends while its output is paused loses none of it', async () => {
    const lines: string[] = [];
    const child = new ChildProcess(launch(`for i in range(5):\n  print(i, flush=True)\n  time.sleep(0.05)`), {
      line: (line) => {
        lines.push(line);
        child.hold();
      },
    });
    await child.ended;
    expect(lines).toEqual(['0', '1', '2', '3', '4']);
  });

  it('writes a line without end is killed, and the line is not kept in memory', async () => {
    const folder = temporaryFolder();
    const before = process.memoryUsage().rss;
    let most = before;
    const events: ProcessEvent<object & { type: string }>[] = [];
    const worker = new BackendProcess(
      launch(`for _ in range(1024): sys.stdout.write('x' * (1 << 20))`),
      join(folder, 'worker.log'),
      workerEventSchema,
      (event) => {
        events.push(event);
        most = Math.max(most, process.memoryUsage().rss);
      },
    );
    await worker.ended;
    expect(events[0]).toMatchObject({ type: 'fault', error: { code: 'protocol_garbage' } });
    expect(events.at(-1)).toMatchObject({ type: 'exit' });
    // The gigabyte that it would have written is not in memory.
    expect(most - before).toBeLessThan(600 * 2 ** 20);
  });

  it('floods standard error fills its log up to a limit, and not the memory', async () => {
    const folder = temporaryFolder();
    const log = join(folder, 'worker.log');
    const flood = `for i in range(300_000): sys.stderr.write('line %d of a library that warns\\n' % i + 'y' * 100)`;
    for (let times = 0; times < 3; times++) {
      const worker = new BackendProcess(launch(flood), log, workerEventSchema, () => undefined);
      await worker.ended;
    }
    expect(statSync(log).size).toBeLessThan(17 * 2 ** 20);
    expect(statSync(`${log}.old`).size).toBeLessThan(17 * 2 ** 20);
  });

  it('reads a file and hangs is ended with an explanation', async () => {
    const reading = new ReadingProcess(launch(`time.sleep(100)`), () => undefined, 500);
    reading.send('');
    await expect(reading.ended()).rejects.toMatchObject({ error: { code: 'input_unreadable' } });
  });
});
