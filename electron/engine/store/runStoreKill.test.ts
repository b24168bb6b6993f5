import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { RESULT_FILES, TEXT_TABLES, type TextTable } from '../../contract/results.ts';
import { openRunStore } from './runStore.ts';
import { HOST_ENTRY } from './testing/storeFixture.ts';
import { DESCRIPTION, recordOf, syntheticPlan, writePrepared } from './testing/syntheticRun.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';

const CHILD = fileURLToPath(new URL('./testing/computingChild.ts', import.meta.url));

/** Starts a process that computes the run, and kills it after this time; returns whether it had finished. */
function work(folder: string, killAfterMs: number | null): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (data: Buffer) => {
      if (output === '' && killAfterMs !== null) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
      output += String(data);
    });
    child.on('error', reject);
    child.on('exit', () => resolve(output.includes('done')));
  });
}

/** Checks that every frame of a done part is in run.db exactly once, and no others. */
function checkWhole(folder: string): number {
  const db = new Database(join(folder, 'run.db'));
  try {
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    const chunks = db
      .prepare('SELECT s.state, count(*) AS n FROM chunk c JOIN part s ON s.id = c.part GROUP BY 1')
      .all();
    const done = db.prepare<[], { n: number; chunks: number }>(
      `SELECT count(*) AS n, coalesce(sum(chunks), 0) AS chunks FROM part WHERE state = 'done'`,
    );
    const { n, chunks: expected } = done.get()!;
    expect(chunks).toEqual(expected === 0 ? [] : [{ state: 'done', n: expected }]);
    return n;
  } finally {
    db.close();
  }
}

it('holds every result once, whenever its process is killed', async () => {
  const template = temporaryFolder();
  const records = Array.from({ length: 600 }, (_, i) => recordOf(`read_${i} x`, [i % 64, (7 * i) % 64]));
  const prepared = writePrepared(template, [records], {
    framesPerPart: 16,
    recordsPerFile: 100,
    roundOf: (row, chunk) => (7 * row + chunk) % 5,
  });
  const saved = { ...prepared, frames: [...prepared.frames] };
  writeFileSync(join(template, 'prepared.json'), JSON.stringify(saved));
  const store = await openRunStore(template, {
    hostEntry: HOST_ENTRY,
    create: { plan: syntheticPlan(1), description: DESCRIPTION },
  });
  await store.close();

  const undisturbed = join(temporaryFolder(), 'undisturbed');
  const disturbed = join(temporaryFolder(), 'disturbed');
  for (const folder of [undisturbed, disturbed]) {
    mkdirSync(folder);
    cpSync(template, folder, { recursive: true });
  }
  expect(await work(undisturbed, null)).toBe(true);

  const doneAfterKill: number[] = [];
  for (const killAfterMs of [0, 20, 60, 110, 170, 240]) {
    if (await work(disturbed, killAfterMs)) break;
    doneAfterKill.push(checkWhole(disturbed));
  }
  expect(doneAfterKill.length).toBeGreaterThan(1);
  expect([...doneAfterKill].sort((a, b) => a - b)).toEqual(doneAfterKill);
  expect(await work(disturbed, null)).toBe(true);
  expect(checkWhole(disturbed)).toBe(prepared.parts.length);

  const tableIn = (folder: string, table: TextTable) => readFileSync(join(folder, RESULT_FILES[table]));
  for (const table of TEXT_TABLES)
    expect(tableIn(disturbed, table).equals(tableIn(undisturbed, table))).toBe(true);
});
