import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { HOSTILE_CASES } from '../../electron/engine/store/testing/hostileFolders.ts';

/** A run's folder from somebody else, and the commands that are run with it. */
export interface HostileRun {
  name: string;
  /** The state of the run that is copied and then changed. */
  kind: 'paused' | 'finished';
  make: (folder: string, outside: string) => void;
  commands: readonly (readonly string[])[];
}

const LOOKED_AT_AND_RESUMED = [['status'], ['resume']];
const READ = [['status'], ['results'], ['verify']];

function change(folder: string, sql: string, values: unknown[] = []): void {
  const db = new Database(join(folder, 'run.db'));
  try {
    db.unsafeMode();
    db.exec('DROP TRIGGER IF EXISTS plan_never_changes');
    db.prepare(sql).run(values);
    db.exec(
      `CREATE TRIGGER plan_never_changes BEFORE UPDATE ON plan
BEGIN SELECT RAISE(ABORT, 'the plan of a run never changes'); END`,
    );
  } finally {
    db.close();
  }
}

/** The run claims to compute there, and its hash does not reveal the change. */
function computesAt(name: string, where: unknown, also?: (folder: string) => void): HostileRun {
  return {
    name,
    kind: 'paused',
    make: (folder) => {
      change(
        folder,
        `UPDATE run SET plan_sha256 = NULL, options = json_set(options, '$.request.where', json(?))`,
        [JSON.stringify(where)],
      );
      also?.(folder);
    },
    commands: LOOKED_AT_AND_RESUMED,
  };
}

/** A run that has read nothing yet, whose input is not an ordinary file. */
function readsFrom(name: string, makeInput: (path: string) => string): HostileRun {
  return {
    name,
    kind: 'paused',
    make: (folder, outside) => {
      const path = makeInput(join(outside, 'input.fa'));
      change(folder, 'UPDATE input SET path = ?, size_bytes = 0', [path]);
      change(
        folder,
        `UPDATE plan SET plan = json_set(plan, '$.inputs[0].path', ?, '$.inputs[0].sizeBytes', 0)`,
        [path],
      );
      change(folder, 'UPDATE run SET plan_sha256 = NULL, prepared = NULL');
    },
    commands: [['resume']],
  };
}

function pipe(path: string): string {
  rmSync(path, { force: true });
  execFileSync('mkfifo', [path]);
  return path;
}

const SCRIPT = '#!/bin/sh\n"$TRIPWIRE" script\n';
const SLURM = { kind: 'slurm', script: SCRIPT, shares: 1, login: null, on_processors: true };
const RAY = { kind: 'ray', address: '203.0.113.1:6379', shares: 1, cpus: 1, workers: 0 };

const PLACES: HostileRun[] = [
  computesAt('a SLURM script', SLURM),
  computesAt('a SLURM login node', { ...SLURM, login: 'victim@some.host' }),
  computesAt('a program for the nodes of a cluster', SLURM, (folder) => {
    writeFileSync(join(folder, 'work', 'virnucpro'), SCRIPT, { mode: 0o755 });
  }),
  computesAt('a Ray cluster', RAY),
];

const INPUTS: HostileRun[] = [
  readsFrom('an input that is a pipe', pipe),
  readsFrom('an input that never ends', () => '/dev/zero'),
  readsFrom('an input that is a link to a pipe', (path) => {
    symlinkSync(pipe(`${path}.pipe`), path);
    return path;
  }),
];

const EXTRA_FILES: HostileRun[] = [
  ...['other_tools.json', 'sequence_notes.json'].map((name): HostileRun => ({
    name: `${name} is a pipe`,
    kind: 'finished',
    make: (folder) => void pipe(join(folder, name)),
    commands: READ,
  })),
  {
    name: 'other_tools.json has 250 MB',
    kind: 'finished',
    make: (folder) => {
      const rows = '["x","1"],'.repeat(25_000_000);
      writeFileSync(join(folder, 'other_tools.json'), `{"tables":[{"rows":[${rows}[]]}]}`);
    },
    commands: READ,
  },
];

/** Every folder that the store is tested with, tried with the commands that a user would run. */
const STORE_CASES: HostileRun[] = HOSTILE_CASES.map(({ name, make }) => ({
  name,
  kind: 'paused',
  make,
  commands: LOOKED_AT_AND_RESUMED,
}));

export const HOSTILE_RUNS: readonly HostileRun[] = [...PLACES, ...INPUTS, ...EXTRA_FILES, ...STORE_CASES];
