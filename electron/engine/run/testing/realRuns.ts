import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unwrap } from '../../../contract/errors.ts';
import { RESULT_FILES } from '../../../contract/results.ts';
import { runRequestSchema, type RunRequestInput } from '../../../contract/rpc/runs.ts';
import type { RunState } from '../../../contract/runState.ts';
import type { EngineContext } from '../engineContext.ts';
import { randomNumbers } from '../../testing/randomNumbers.ts';
import { readTables, SAMPLE, temporaryFolder, testContext } from '../../testing/testContext.ts';
import { createRun } from '../begin/createRun.ts';
import type { runJson } from '../finish/runJson.ts';
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
  const { folder } = unwrap(
    await createRun(context, {
      defaultParent: parent,
      request: runRequestSchema.parse({
        inputs: [SAMPLE],
        model: 'teaching',
        devices: 'cpu:1',
        residuesPerPart: 4000,
        ...request,
      }),
    }),
  );
  return unwrap(await OpenRun.open(context, folder));
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
  unwrap(await session.start());
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

export const runJsonOf = async ({ folder }: Pick<Outcome, 'folder'>) =>
  JSON.parse(await readFile(join(folder, RESULT_FILES.run), 'utf8')) as ReturnType<typeof runJson>;

/** Sequences without a stop codon in any frame. */
export function openSequences(count: number, seed: number, codons = 200): string {
  const random = randomNumbers(seed);
  const codon = () => 'GAC'.charAt(Math.floor(random() * 3)) + 'ACG'.charAt(Math.floor(random() * 3)) + 'C';
  return Array.from(
    { length: count },
    (_, i) => `>s${seed}_${i}\n${Array.from({ length: codons }, codon).join('')}\n`,
  ).join('');
}
