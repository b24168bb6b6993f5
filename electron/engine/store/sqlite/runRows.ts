import type Database from 'better-sqlite3';
import { z } from 'zod';
import { appErrorSchema } from '../../../contract/errors.ts';
import { undecidedUpTo } from '../../../contract/evidence.ts';
import type { Goal } from '../../../contract/goal.ts';
import { fileProblemCodeSchema } from '../../../contract/problems.ts';
import { readJson } from '../../../contract/parseJson.ts';
import { modelMark, planSchema, type Plan, type PlanInput } from '../../../contract/plan.ts';
import {
  inputProblemSchema,
  prepareDoneSchema,
  type InputProblem,
  type PrepareDone,
} from '../../../contract/protocol/index.ts';
import type { Annotation } from '../../../contract/rpc/runs.ts';
import { runStateSchema, type RunState } from '../../../contract/runState.ts';
import type { SampleDetails } from '../../../contract/samples.ts';
import { cellText, inputLabels } from '../../results/cellText.ts';
import { mateRows } from '../../results/sequenceRemarks.ts';
import type { RunLabels } from '../../results/sequenceRow.ts';
import { checkedTime, damaged } from './database.ts';
import { sealPlan } from './parts/digests.ts';
import { addEvent } from './telemetry/telemetry.ts';
import {
  type JsonObject,
  leftOutWhySchema,
  type LeftOutInput,
  type RunDescription,
  type RunDevice,
  type RunOptions,
  runOptionsSchema,
  type StoredInput,
  type ResultFileDigest,
} from '../types.ts';

const jsonObjectSchema = z.record(z.string(), z.json()) as z.ZodType<JsonObject>;

/** Fills a new run.db in one transaction. */
export function insertRun(db: Database.Database, plan: Plan, description: RunDescription): void {
  db.transaction(() => {
    const { runId, name, createdAt, appVersion, options } = description;
    const state: RunState = { phase: 'created' };
    db.prepare(
      'INSERT INTO run (only, run_id, name, created_at, app_version, options, state) VALUES (1, ?, ?, ?, ?, ?, ?)',
    ).run(runId, name, createdAt, appVersion, JSON.stringify(options), JSON.stringify(state));
    db.prepare('INSERT INTO plan (only, plan) VALUES (1, ?)').run(JSON.stringify(planSchema.parse(plan)));
    plan.inputs.forEach((input, number) => insertInput(db, input, number));
    addEvent(db, { time: createdAt, level: 'info', code: 'phase', message: 'created', detail: null });
  })();
}

function insertInput(db: Database.Database, { path, sizeBytes, sha256 }: PlanInput, number: number): void {
  const insert = 'INSERT INTO input (input, path, size_bytes, sha256) VALUES (?, ?, ?, ?)';
  db.prepare(insert).run(number, path, sizeBytes, sha256);
}

/** The files that were left out of the run from the beginning. */
export function readLeftOut(db: Database.Database): LeftOutInput[] {
  return readRun(db).description.options.leftOut ?? [];
}

export interface RunRow {
  description: RunDescription;
  state: RunState;
  prepared: PrepareDone | null;
}

interface RunColumns {
  run_id: string;
  name: string;
  created_at: number;
  app_version: string;
  options: string;
  state: string;
  prepared: string | null;
}

export function readRun(db: Database.Database): RunRow {
  const row = db.prepare<[], RunColumns>('SELECT * FROM run').get();
  if (!row) throw damaged('run.db holds no run.');
  return {
    description: {
      runId: row.run_id,
      name: row.name,
      createdAt: checkedTime(row.created_at),
      appVersion: row.app_version,
      options: parseStored(runOptionsSchema, row.options, 'request'),
    },
    state: parseStored(runStateSchema, row.state, 'state'),
    prepared:
      row.prepared === null
        ? null
        : parseStored(prepareDoneSchema, row.prepared, 'result of reading the inputs'),
  };
}

/** The plan with which the run was created, and the inputs that were added since. */
export function readPlan(db: Database.Database): Plan {
  const plan = db.prepare<[], string>('SELECT plan FROM plan').pluck().get();
  const { inputs, ...rest } = parseStored(planSchema, plan ?? 'null', 'plan');
  return { ...rest, inputs: [...inputs, ...(readRun(db).description.options.added ?? [])] };
}

export function readInputs(db: Database.Database): StoredInput[] {
  interface InputColumns {
    input: number;
    path: string;
    size_bytes: number;
    sha256: string;
    records: number | null;
    bases: number | null;
    first_row: number | null;
    failure: string | null;
  }
  const rows = db.prepare<[], InputColumns>('SELECT * FROM input ORDER BY input').all();
  rows.forEach(({ input, size_bytes, records, bases, first_row }, place) => {
    const counts = [size_bytes, records ?? 0, bases ?? 0, first_row ?? 0];
    if (input !== place || !counts.every((count) => Number.isSafeInteger(count) && count >= 0))
      throw damaged(`What run.db says of input ${input} does not fit together.`);
  });
  return rows.map(({ input, path, size_bytes, sha256, records, bases, first_row, failure }) => ({
    input,
    path,
    sizeBytes: size_bytes,
    sha256,
    prepared:
      records === null || bases === null || first_row === null
        ? null
        : { records, bases, firstRow: first_row },
    failure: failure === null ? null : parseStored(leftOutWhySchema, failure, 'failure of an input'),
  }));
}

/** What tables say about the run in every row. */
export function readLabels(db: Database.Database): RunLabels {
  const plan = readPlan(db);
  const { chunkLength, secondLook, model, trusted = null } = plan;
  const { name, notice } = model;
  const inputs = readInputs(db);
  const mates = mateRows(inputs);
  return {
    chunkLength,
    secondLook,
    looksTwice: secondLook !== undefined,
    inputs: inputLabels(inputs.map(({ path }) => path)),
    rows: inputs.map(({ prepared }) => prepared),
    mates,
    isPaired: mates.some((rows) => rows !== null),
    undecidedUpTo: undecidedUpTo(plan),
    trusted,
    isCalibrated: trusted !== null,
    model: cellText(notice === null ? name : `${name} (${notice})`),
    isMarked: modelMark(model) !== null,
  };
}

export function readProblems(db: Database.Database): InputProblem[] {
  type Columns = Record<'code' | 'variables' | 'examples', string> & Record<'input' | 'count', number>;
  const rows = db.prepare<[], Columns>('SELECT * FROM input_problem ORDER BY input, code').all();
  return rows.map(({ code, variables, examples, ...rest }) => ({
    type: 'input_problem',
    ...rest,
    code: fileProblemCodeSchema.parse(code),
    values: parseStored(inputProblemSchema.shape.values, variables, 'variables of a problem'),
    examples: parseStored(inputProblemSchema.shape.examples, examples, 'example of a problem'),
  }));
}

export function readDevices(db: Database.Database): RunDevice[] {
  interface DeviceColumns {
    id: string;
    name: string;
    kind: RunDevice['kind'];
    facts: string;
    switched_off: string | null;
  }
  const rows = db.prepare<[], DeviceColumns>('SELECT * FROM device ORDER BY id').all();
  return rows.map(({ id, name, kind, facts, switched_off }) => ({
    id,
    name,
    kind,
    facts: parseStored(jsonObjectSchema, facts, 'device'),
    switchedOff: switched_off === null ? null : parseStored(appErrorSchema, switched_off, 'device'),
  }));
}

type SamplesOfInputs = Pick<RunOptions, 'samples' | 'sampleDetails'>;

export function runRowMethods(db: Database.Database) {
  const updateState = db.prepare('UPDATE run SET state = ?');
  const updateAnnotation = db.prepare(`UPDATE run SET options = json_set(options, '$.annotation', json(?))`);
  const updateGoal = db.prepare(`UPDATE run SET options = json_set(options, '$.goal', json(?))`);
  const updateSamples = db.prepare("UPDATE run SET options = json_set(options, '$.samples', json(?))");
  const updateDetails = db.prepare("UPDATE run SET options = json_set(options, '$.sampleDetails', json(?))");
  const updateName = db.prepare('UPDATE run SET name = ?');
  const upsertDevice = db.prepare(`
    INSERT INTO device (id, name, kind, facts, switched_off) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, kind = excluded.kind, facts = excluded.facts,
      switched_off = excluded.switched_off`);
  return {
    /** The user wants a file left out that the run went on without, or has another read in its place. */
    settleInput: db.transaction((file: string, added: PlanInput | null, samples: SamplesOfInputs): void => {
      const settled = added ? 'replaced' : 'accepted';
      const leftOut = readLeftOut(db).map((one) => (one.path === file ? { ...one, settled } : one));
      const before = readRun(db).description.options.added ?? [];
      const patch = { ...samples, leftOut, ...(added && { added: [...before, added] }) };
      if (added) insertInput(db, added, readInputs(db).length);
      db.prepare('UPDATE run SET options = json_patch(options, json(?))').run(JSON.stringify(patch));
      db.prepare(
        `UPDATE input SET failure = json_set(failure, '$.settled', ?) WHERE path = ? AND failure IS NOT NULL`,
      ).run(settled, file);
      if (added) db.exec('UPDATE run SET prepared = NULL');
      sealPlan(db);
    }),
    /** The sample of each input; empty if the file names determine them. */
    setSamples: db.transaction((names: readonly string[], details?: readonly SampleDetails[]): void => {
      updateSamples.run(names.length === 0 ? null : JSON.stringify(names));
      if (details) updateDetails.run(JSON.stringify(details));
    }),
    setGoal: (goal: Goal | null): void => void updateGoal.run(JSON.stringify(goal)),
    rename: (name: string): void => void updateName.run(name),
    annotate: (annotation: Annotation): void => void updateAnnotation.run(JSON.stringify(annotation)),
    setState: db.transaction((state: RunState): void => {
      updateState.run(JSON.stringify(state));
      addEvent(db, { time: Date.now(), level: 'info', code: 'phase', message: state.phase, detail: null });
    }),
    saveDevices: db.transaction((devices: RunDevice[]): void => {
      for (const { id, name, kind, facts, switchedOff } of devices)
        upsertDevice.run(id, name, kind, JSON.stringify(facts), switchedOff && JSON.stringify(switchedOff));
    }),
  };
}

function parseStored<Schema extends z.ZodType>(schema: Schema, text: string, what: string): z.output<Schema> {
  const read = readJson(schema, text);
  if (read.ok) return read.value;
  throw damaged(`The ${what} stored in run.db cannot be read.`, read.error);
}

/** The digests of the result files as they were last written. */
export function readResultFiles(db: Database.Database): Record<string, ResultFileDigest> {
  const rows = db
    .prepare<[], ResultFileDigest & { name: string }>(
      'SELECT name, bytes, sha256 FROM result_file ORDER BY name',
    )
    .all();
  return Object.fromEntries(rows.map(({ name, bytes, sha256 }) => [name, { bytes, sha256 }]));
}

export function resultFileMethods(db: Database.Database) {
  const save = db.prepare('INSERT INTO result_file (name, bytes, sha256) VALUES (?, ?, ?)');
  return {
    saveResultFiles: db.transaction((files: Record<string, ResultFileDigest>): void => {
      db.exec('DELETE FROM result_file');
      for (const [name, { bytes, sha256 }] of Object.entries(files)) save.run(name, bytes, sha256);
    }),
  };
}
