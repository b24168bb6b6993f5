import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isProcessAlive } from '../processes/liveProcess.ts';
import { sweepOrphans } from './orphanSweep.ts';
import { processRecordSchema } from './processRecords.ts';

const maker = join(import.meta.dirname, 'testing', 'orphanMaker.ts');
let folder: string;
let child = 0;

/** Starts an engine with a stubborn child; the child stays when the engine is killed. */
async function startEngine() {
  const engine = execa(process.execPath, [maker, folder], { reject: false });
  const [line] = (await once(engine.stdout, 'data')) as [Buffer];
  child = Number(line.toString());
  const killed = async (): Promise<void> => {
    engine.kill('SIGKILL');
    await engine;
  };
  return { killed };
}

describe.skipIf(process.platform === 'win32')('sweepOrphans', () => {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orphans-'));
  });
  afterEach(async () => {
    if (isProcessAlive(child)) process.kill(child, 'SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  it('leaves the processes of a living engine alone, and ends them when it is gone', async () => {
    const { killed } = await startEngine();
    expect(await sweepOrphans(folder)).toEqual([]);
    expect(isProcessAlive(child)).toBe(true);
    await killed();
    expect(isProcessAlive(child)).toBe(true);
    expect(await sweepOrphans(folder)).toEqual([child]);
    expect(isProcessAlive(child)).toBe(false);
    expect((await readdir(folder)).filter((name) => name.endsWith('.json'))).toEqual([]);
  });

  it.each([
    ['token', (record: { token: string }) => ({ ...record, token: '0'.repeat(36) })],
    [
      'start time',
      (record: { process: { pid: number } }) => ({
        ...record,
        process: { ...record.process, startTime: 'another boot 1' },
      }),
    ],
  ])('never ends a process of the same number with another %s', async (_, change) => {
    const { killed } = await startEngine();
    await killed();
    const [name = ''] = (await readdir(folder)).filter((file) => file.endsWith('.json'));
    const path = join(folder, name);
    const record = processRecordSchema.parse(JSON.parse(await readFile(path, 'utf8')));
    await writeFile(path, JSON.stringify(change(record)));
    expect(await sweepOrphans(folder)).toEqual([]);
    expect(isProcessAlive(child)).toBe(true);
  });
});
