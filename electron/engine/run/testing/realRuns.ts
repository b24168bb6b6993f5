import { runRequestSchema, type RunRequestInput } from '../../../contract/rpc/runs.ts';
import type { RunState } from '../../../contract/runState.ts';
import type { EngineContext } from '../engineContext.ts';
import { readTables, SAMPLE, temporaryFolder, testContext } from '../../testing/testContext.ts';
import { createRun } from '../begin/createRun.ts';
import { OpenRun } from '../openRun.ts';
import type { RunNote } from '../runNotes.ts';

export interface Outcome {
  folder: string;
  state: RunState;
  notes: RunNote[];
  tables: Record<string, string>;
}

export async function makeRun(
  context: EngineContext,
  request: Partial<RunRequestInput> = {},
): Promise<OpenRun> {
  const parent = temporaryFolder();
  const created = await createRun(context, {
    defaultParent: parent,
    request: runRequestSchema.parse({
      inputs: [SAMPLE],
      model: 'teaching',
      devices: 'cpu:1',
      residuesPerPart: 4000,
      ...request,
    }),
  });
  if (!created.ok) throw new Error(created.error.cause);
  const session = await OpenRun.open(context, created.value.folder);
  if (!session.ok) throw new Error(session.error.cause);
  return session.value;
}

export async function predict(
  context: EngineContext,
  request: Partial<RunRequestInput> = {},
): Promise<Outcome> {
  const session = await makeRun(context, request);
  const notes: RunNote[] = [];
  session.record.subscribe((change) => {
    if (change.type === 'note') notes.push(change.note);
  });
  const started = await session.start();
  if (!started.ok) throw new Error(started.error.cause);
  const state = await session.whenIdle();
  await session.close();
  const tables = state.phase === 'done' ? await readTables(session.folder) : {};
  return { folder: session.folder, state, notes, tables };
}

let sample: Promise<Outcome> | undefined;
/**
 * The sample computed by one worker without disturbance, with which every other way to compute it is
 * compared.
 */
export const undisturbed = (): Promise<Outcome> => (sample ??= predict(testContext()));

export const codes = (outcome: Outcome): string[] => outcome.notes.map(({ code }) => code);

/** All tables without their scores, whose last digits depend on the order of work. */
export const callsOf = (tables: Record<string, string>): string[] =>
  Object.values(tables).map((table) => table.replaceAll(/\d\.\d+/g, ''));
