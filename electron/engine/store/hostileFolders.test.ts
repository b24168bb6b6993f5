import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESULT_FILES } from '../../contract/results.ts';
import { compute, computeAll, preparedRun } from './testing/storeFixture.ts';
import { recordOf } from './testing/syntheticRun.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';

/** A way in which a run's folder can be manipulated to cause unwanted actions. */
interface HostileCase {
  name: string;
  /** `outside`: a folder that must not change. */
  make: (folder: string, outside: string) => void;
  /**
   * The error codes when a run is opened to continue, and when it is opened for reading. `opened`: the case
   * does no harm.
   */
  resumed: Code;
  lookedAt: Code;
}

type Code = 'folder_unsafe' | 'run_damaged' | 'folder_not_a_run' | 'run_too_new' | 'opened';

/**
 * Files outside the run that must not be touched: they have the names of a run's files, and are old enough to
 * show any change.
 */
function makeOutside(folder: string): void {
  const names = ['secret.txt', 'run.db', 'run.lock', 'x.log', 'run.log', 'prepare.log', 'shadow'];
  for (const below of ['', 'records', 'parts', 'scores', 'embeddings', 'shards', 'logs']) {
    mkdirSync(join(folder, below), { recursive: true });
    for (const name of names) {
      writeFileSync(join(folder, below, name), `${below}/${name}: not yours\n`);
      utimesSync(join(folder, below, name), 1_000_000, 1_000_000);
    }
  }
}

/** Names, bytes and times of all files in a folder. */
function pictureOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const info = lstatSync(join(folder, name));
      const content = info.isFile() ? readFileSync(join(folder, name), 'utf8') : '';
      return `${name} ${info.mode} ${info.mtimeMs} ${info.ctimeMs} ${content}`;
    });
}

function edit(folder: string, sql: string): void {
  const db = new Database(join(folder, 'run.db'));
  try {
    db.unsafeMode();
    db.exec(sql);
  } finally {
    db.close();
  }
}

function link(folder: string, name: string, target: string): void {
  const path = join(folder, name);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

function made(
  name: string,
  make: HostileCase['make'],
  resumed: Code = 'opened',
  lookedAt = resumed,
): HostileCase {
  return { name, make, resumed, lookedAt };
}

const linked = (name: string, target: string, lookedAt: Code = 'opened'): HostileCase =>
  made(
    `${name} is a link to ${target || 'a folder'}`,
    (folder, outside) => link(folder, name, join(outside, target)),
    'folder_unsafe',
    lookedAt,
  );

const inDatabase = (name: string, sql: string, code: Code = 'run_damaged'): HostileCase =>
  made(name, (folder) => edit(folder, sql), code);

const TABLES = Object.values(RESULT_FILES).filter((name) => name !== RESULT_FILES.results);
const ENDLESS = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)';
/** A huge text that costs nothing to store in a statement. */
const blob = (bytes: number): string => `zeroblob(${bytes})`;
/** Changes the schema in ways that no statement can, to test reading it. */
const schema = (sql: string): string =>
  `PRAGMA writable_schema = ON; ${sql}; PRAGMA writable_schema = RESET;`;

const LINKS: HostileCase[] = [
  ...TABLES.map((name) => linked(name, 'secret.txt')),
  ...TABLES.map((name) => linked(`${name}.tmp`, 'secret.txt')),
  linked('viral_rows.u32.tmp', 'secret.txt'),
  linked('viral_sequences.fna.4711.tmp', 'secret.txt'),
  linked('run.db', 'run.db', 'folder_unsafe'),
  linked('run.db-wal', 'secret.txt', 'folder_unsafe'),
  linked('run.db-shm', 'secret.txt', 'folder_unsafe'),
  linked('run.db-journal', 'secret.txt', 'folder_unsafe'),
  linked('run.db.creating', 'secret.txt'),
  linked('run.lock', 'run.lock'),
  linked('run.lock', 'nowhere'),
  linked('work', ''),
  ...['records', 'parts', 'scores', 'embeddings', 'shards'].map((name) => linked(`work/${name}`, name)),
  linked('work/parts/000001.safetensors', 'secret.txt'),
  linked('work/records/000000.safetensors', 'secret.txt'),
  linked('work/scores/000001.safetensors', 'secret.txt'),
  linked('work/parts/000001.safetensors.77.tmp', 'secret.txt'),
  linked('logs', 'logs'),
  ...['run.log', 'prepare.log', 'monitor.log', 'worker-cpu-0.log'].map((name) =>
    linked(`logs/${name}`, 'x.log'),
  ),
];

const SPECIAL_FILES: HostileCase[] = [
  ...['run.json', 'sequences.tsv.tmp', 'logs/run.log', 'run.lock', 'run.db'].map((name) =>
    made(
      `${name} is a pipe that nobody writes to`,
      (folder) => {
        rmSync(join(folder, name), { force: true });
        execFileSync('mkfifo', [join(folder, name)]);
      },
      'folder_unsafe',
      name === 'run.db' ? 'folder_unsafe' : 'opened',
    ),
  ),
  made('run.lock is from the future and empty', (folder) => {
    writeFileSync(join(folder, 'run.lock'), '');
    utimesSync(join(folder, 'run.lock'), 4e9, 4e9);
  }),
  made('run.lock has a gigabyte', (folder) => {
    writeFileSync(join(folder, 'run.lock'), '');
    truncateSync(join(folder, 'run.lock'), 2 ** 30);
    utimesSync(join(folder, 'run.lock'), 1e9, 1e9);
  }),
  made('a part has 100 GB', (folder) => {
    const path = join(folder, 'work/parts/000001.safetensors');
    if (existsSync(path)) truncateSync(path, 100 * 2 ** 30);
  }),
  made(
    'run.db-journal names a file that SQLite would delete',
    (folder, outside) => {
      const name = Buffer.from(join(outside, 'secret.txt'));
      const end = Buffer.alloc(8);
      end.writeUInt32BE(name.length, 0);
      end.writeUInt32BE(
        name.reduce((sum, byte) => sum + byte, 0),
        4,
      );
      const magic = Buffer.from('d9d505f920a163d7', 'hex');
      const journal = Buffer.concat([magic, Buffer.alloc(504), name, end, magic]);
      writeFileSync(join(folder, 'run.db-journal'), journal);
    },
    'run_damaged',
  ),
];

const DATABASES: HostileCase[] = [
  inDatabase(
    'run is a view of an endless query',
    `DROP TABLE run; CREATE VIEW run AS ${ENDLESS} SELECT * FROM n`,
  ),
  inDatabase(
    'part is a view of an endless query',
    `DROP TABLE part; CREATE VIEW part AS ${ENDLESS} SELECT x AS key FROM n`,
  ),
  inDatabase('one view more', `CREATE VIEW more AS ${ENDLESS} SELECT x FROM n`),
  inDatabase(
    'an endless trigger on the state',
    `CREATE TRIGGER forever AFTER UPDATE ON run BEGIN INSERT INTO event (time, level, code, message)
     ${ENDLESS} SELECT x, '', '', '' FROM n; END`,
  ),
  inDatabase(
    'the trigger of the plan does something else',
    `DROP TRIGGER plan_never_changes; CREATE TRIGGER plan_never_changes BEFORE UPDATE ON plan BEGIN DELETE FROM run; END`,
  ),
  inDatabase('a virtual table', `CREATE VIRTUAL TABLE words USING fts5(text)`),
  inDatabase('one table more', 'CREATE TABLE more (x)'),
  inDatabase('one index more', `CREATE INDEX more ON record (hex(zeroblob(length)))`),
  inDatabase('a column more', `ALTER TABLE part ADD COLUMN more TEXT AS (hex(zeroblob(1000000)))`),
  inDatabase('a table less', 'DROP TABLE device_sample'),
  inDatabase(
    'a table without its types',
    `ALTER TABLE event RENAME TO e; CREATE TABLE event AS SELECT * FROM e; DROP TABLE e`,
  ),
  inDatabase(
    'a table whose definition is not SQL',
    schema(`UPDATE sqlite_schema SET sql = 'nonsense' WHERE name = 'chunk'`),
  ),
  inDatabase(
    'two tables on the same pages',
    schema(
      `UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'record') WHERE name = 'event'`,
    ),
  ),
  inDatabase(
    'a check that calls a function',
    schema(
      `UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (only = 1)', 'CHECK (randomblob(9))') WHERE name = 'run'`,
    ),
  ),
  inDatabase(
    'a text of another type in a column of numbers',
    schema(`UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE name = 'event'`),
  ),
  inDatabase('a run with a name of 100 MB', `UPDATE run SET name = CAST(${blob(1e8)} AS TEXT)`),
  inDatabase(
    'a plan of 140 MB',
    `DROP TRIGGER plan_never_changes; UPDATE plan SET plan = CAST(${blob(1.4e8)} AS TEXT);
     CREATE TRIGGER plan_never_changes BEFORE UPDATE ON plan
BEGIN SELECT RAISE(ABORT, 'the plan of a run never changes'); END;`,
  ),
  inDatabase('a message of 100 MB', `UPDATE event SET message = CAST(${blob(1e8)} AS TEXT)`),
  inDatabase('scores of 100 MB', `UPDATE chunk SET scores = ${blob(1e8)} WHERE row = 0`),
  inDatabase('a state that is none', `UPDATE run SET state = '{"phase":"dreaming"}'`),
  inDatabase('options that are not JSON', `UPDATE run SET options = 'nonsense'`),
  inDatabase(
    'a run that began in a year that no calendar has',
    `UPDATE run SET created_at = 9007199254740991`,
  ),
  inDatabase('counts that are none', `UPDATE run SET prepared = '{"parts":-1}'`),
  inDatabase('inputs that are not those of the plan', `UPDATE input SET size_bytes = -1`),
  inDatabase('another program', 'PRAGMA application_id = 1', 'folder_not_a_run'),
  inDatabase('a newer version', 'PRAGMA user_version = 99', 'run_too_new'),
  inDatabase('an older version than it is', 'PRAGMA user_version = 0'),
  made(
    'run.db is no database',
    (folder) => writeFileSync(join(folder, 'run.db'), 'x'.repeat(1e5)),
    'run_damaged',
  ),
  made('run.db is empty', (folder) => writeFileSync(join(folder, 'run.db'), ''), 'folder_not_a_run'),
  made('run.db is cut off', (folder) => truncateSync(join(folder, 'run.db'), 9 * 4096), 'run_damaged'),
  made(
    'pages of run.db are overwritten',
    (folder) => {
      const path = join(folder, 'run.db');
      writeFileSync(path, readFileSync(path).fill(0xff, 4096, 5 * 4096));
    },
    'run_damaged',
  ),
  inDatabase('no run', 'DELETE FROM run'),
  // Cases that only a query about a part, or the tables, runs into.
  ...[
    '../../../outside/escaped',
    '/etc/passwd',
    '000001/../../../../outside/x',
    '000001.2',
    '',
    `000001${'.0'.repeat(500)}`,
  ].map((key) =>
    inDatabase(
      `a part called ${key.slice(0, 40) || 'nothing'}`,
      // The last part is pending in every paused run: a finished part's file is not opened again.
      `PRAGMA foreign_keys = OFF; UPDATE part SET key = '${key}' WHERE number = (SELECT max(number) FROM part)`,
      'opened',
    ),
  ),
  inDatabase(
    'records files whose paths lead out',
    `UPDATE records_file SET path = '../../' || path`,
    'opened',
  ),
  inDatabase('a log whose path leads out', `UPDATE attempt SET log = '../outside/logs/shadow'`, 'opened'),
  inDatabase(
    'a part with more frames than there are',
    `UPDATE part SET frame_end = 9007199254740991, frames = 9007199254740991`,
    'opened',
  ),
  inDatabase(
    'a part that ends before it begins',
    `UPDATE part SET frame_begin = 9, frame_end = 3, frames = -6`,
    'opened',
  ),
  inDatabase(
    'a record with more chunks than letters',
    `UPDATE record SET n_chunks = 9007199254740991`,
    'opened',
  ),
  inDatabase(
    'scores that are no numbers',
    `UPDATE chunk SET scores = CAST(substr(x'${'0000c07f'.repeat(12)}', 1, length(scores)) AS BLOB)`,
    'opened',
  ),
  inDatabase('scores that are cut off', `UPDATE chunk SET scores = substr(scores, 1, 3)`, 'opened'),
  inDatabase('chunks with 40 frames', `UPDATE chunk SET frames = 1099511627775`, 'opened'),
];

const HOSTILE_CASES = [...LINKS, ...SPECIAL_FILES, ...DATABASES];

/** A case that takes longer than this hangs. */
const HANGS_MS = 60_000;
const INPUTS = [
  [recordOf('a', [1, 2, 3]), recordOf('b', [63])],
  [recordOf('c', [4]), recordOf('d', [7, 8])],
];
const CHILD = join(import.meta.dirname, 'testing', 'hostileChild.ts');

let paused = '';
let finished = '';

beforeAll(async () => {
  for (const whole of [false, true]) {
    const run = await preparedRun(INPUTS, 2);
    mkdirSync(join(run.folder, 'logs'));
    for (const name of ['run.log', 'prepare.log']) writeFileSync(join(run.folder, 'logs', name), 'a line\n');
    if (whole) {
      await computeAll(run);
      await run.store.writeTables();
      await run.store.setState({ phase: 'done', failedParts: 0, failedRecords: 0 });
      for (const name of ['run.json', 'viral_sequences.fna']) writeFileSync(join(run.folder, name), '{}');
      finished = run.folder;
    } else {
      await compute(run, '000000');
      await run.store.setState({ phase: 'paused', error: null });
      paused = run.folder;
    }
    await run.store.close();
  }
});

/** One process handles many folders in turn; it is restarted after one that hung. */
class Attempts {
  #child: ChildProcess | null = null;
  #answers: AsyncIterator<string> | null = null;

  async codes(folder: string): Promise<unknown> {
    const child = (this.#child ??= spawn(process.execPath, [CHILD], { stdio: ['pipe', 'pipe', 'inherit'] }));
    this.#answers ??= createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    child.stdin!.write(`${folder}\n`);
    const limit = setTimeout(() => {
      this.end();
    }, HANGS_MS);
    const answer = await this.#answers.next();
    clearTimeout(limit);
    return answer.done ? 'it hangs' : JSON.parse(answer.value);
  }

  end(): void {
    this.#child?.kill('SIGKILL');
    this.#child = null;
    this.#answers = null;
  }
}

describe.skipIf(process.platform === 'win32')('a run folder from somebody else', () => {
  describe.each(['paused', 'finished'] as const)('holding a %s run', (kind) => {
    const attempts = new Attempts();
    afterAll(() => {
      attempts.end();
    });

    it.each(HOSTILE_CASES)('$name', async ({ make, resumed, lookedAt }) => {
      const parent = temporaryFolder();
      const [folder, outside] = [join(parent, 'run'), join(parent, 'outside')];
      cpSync(kind === 'paused' ? paused : finished, folder, { recursive: true });
      makeOutside(outside);
      make(folder, outside);
      const before = pictureOf(outside);
      const codes = await attempts.codes(folder);
      expect(pictureOf(outside)).toEqual(before);
      expect(codes).toEqual([lookedAt, resumed]);
      rmSync(parent, { recursive: true });
    });
  });
});
