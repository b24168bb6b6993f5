import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ORPCError } from '@orpc/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appError, appErrorSchema } from '../contract/errors.ts';
import type { Service } from '../engine/index.ts';
import { openTestService } from '../engine/service/testing/testService.ts';
import { HOSTILE_CASES, makeOutside, pictureOf } from '../engine/store/testing/hostileFolders.ts';
import { REAL_PYTHON, SAMPLE, WITHOUT_PYTHON } from '../engine/testing/testContext.ts';
import { startServer, type RunningServer } from '../server/startServer.ts';
import { socketClient, type SocketClient } from '../server/testing/socketClient.ts';
import { ended, succeeds, virnucpro, waitUntil } from './testing/commandLineProcess.ts';

/** A command that takes longer than this hangs. */
const HANGS_MS = 120_000;
const PREDICT = [
  '--model',
  'teaching',
  '--devices',
  'cpu:1',
  '--residues-per-part',
  '4000',
  '--python',
  REAL_PYTHON,
];
const LOGS = ['logs/run.log', 'logs/prepare.log', 'logs/shadow', '../outside/logs/shadow'];

/**
 * A selection of the cases of the store's tests: `exit` is the exit code of resume if the folder does no
 * harm.
 */
const CASES: readonly { kind: 'paused' | 'finished'; name: string; exit?: number }[] = [
  { kind: 'paused', name: 'sequences.tsv.tmp is a link' },
  { kind: 'paused', name: 'work is a link' },
  { kind: 'paused', name: 'logs is a link' },
  { kind: 'paused', name: 'run.db is a link' },
  { kind: 'paused', name: 'run.json is a pipe that nobody writes to' },
  { kind: 'paused', name: 'run.db-journal names a file that SQLite would delete' },
  { kind: 'paused', name: 'run is a view of an endless query' },
  { kind: 'paused', name: 'an endless trigger on the state' },
  { kind: 'paused', name: 'a part called ../../../outside/escaped', exit: 1 },
  { kind: 'paused', name: 'a part has 100 GB', exit: 0 },
  { kind: 'finished', name: 'chunks.tsv is a link' },
  { kind: 'finished', name: 'logs/run.log is a link' },
  { kind: 'finished', name: 'part is a view of an endless query' },
];

describe.skipIf(WITHOUT_PYTHON ?? process.platform !== 'linux')('a run folder from somebody else', () => {
  let service: Service;
  let folder: string;
  let server: RunningServer;
  let window: SocketClient;

  beforeAll(async () => {
    ({ service, folder } = await openTestService());
    await writeFile(join(folder, 'index.html'), '<!doctype html>');
    server = await startServer(service, {
      host: '127.0.0.1',
      port: 0,
      root: folder,
      pageFolder: folder,
      allowNetwork: false,
      onNewAddress: () => undefined,
    });
    window = await socketClient(server.address());
    await succeeds(['predict', SAMPLE, '-o', join(folder, 'finished'), ...PREDICT]);
    const paused = join(folder, 'paused');
    const child = virnucpro(['predict', SAMPLE, '-o', paused, ...PREDICT]);
    const end = ended(child);
    const scores = join(paused, 'work', 'scores');
    await waitUntil(() => existsSync(scores) && readdirSync(scores).length > 0, 'a part is scored');
    child.kill('SIGTERM');
    expect((await end).code).toBe(143);
  });

  afterAll(async () => {
    window.close();
    await server.close();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** The error code with which the window's call is refused. */
  async function inWindow(run: string): Promise<string> {
    const opened = await window.client.runs.open({ folder: run }).catch((reason: unknown) => reason);
    if (opened instanceof ORPCError) return appErrorSchema.parse(opened.data).code;
    const { runId } = opened as { runId: string };
    for (const path of LOGS) {
      const log = await window.client.runs.readLog({ runId, path }).catch((reason: unknown) => reason);
      if (log instanceof ORPCError) appErrorSchema.parse(log.data);
      else expect((log as { text: string }).text).not.toContain('not yours');
    }
    await window.client.runs.remove({ runId, files: 'keep' });
    return 'opened';
  }

  /** The exit code, null after a hang, and the output, which must be plain words. */
  async function command(args: string[]): Promise<{ code: number | null; output: string }> {
    const { code, output } = await ended(virnucpro(args, { timeoutMs: HANGS_MS }));
    expect(output).not.toMatch(/Unexpected error|\n {4}at |not yours/);
    return { code, output };
  }

  it.each(CASES)('holding a $kind run: $name', { timeout: 4 * HANGS_MS }, async ({ kind, name, exit }) => {
    const hostile = HOSTILE_CASES.find((one) => one.name === name);
    if (!hostile) throw new Error(`There is no case ${name}.`);
    const [run, outside] = [join(folder, 'strangers', 'run'), join(folder, 'strangers', 'outside')];
    await rm(join(folder, 'strangers'), { recursive: true, force: true });
    cpSync(join(folder, kind), run, { recursive: true });
    mkdirSync(outside);
    makeOutside(outside);
    hostile.make(run, outside);
    const before = pictureOf(outside);

    const [opened, looked] = await Promise.all([
      inWindow(run),
      command(['status', run, '--python', REAL_PYTHON]),
    ]);
    expect(opened).toBe(hostile.lookedAt);
    expect(looked.code, looked.output).toBe(hostile.lookedAt === 'opened' ? 0 : 1);
    expect(looked.output).toContain(hostile.lookedAt === 'opened' ? 'parts' : titleOf(hostile.lookedAt));
    expect(pictureOf(outside)).toEqual(before);

    const resumed = await command(['resume', run, '--python', REAL_PYTHON]);
    expect(resumed.code, resumed.output).toBe(hostile.resumed === 'opened' ? exit : 1);
    if (hostile.resumed !== 'opened') expect(resumed.output).toContain(titleOf(hostile.resumed));
    expect(pictureOf(outside)).toEqual(before);
  });
});

function titleOf(code: Parameters<typeof appError>[0]): string {
  return appError(code, '').title;
}
