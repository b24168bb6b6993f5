import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../../contract/parseJson.ts';
import { placeSchema, type Place, type PrepareCommand } from '../../../contract/protocol/index.ts';
import { fileStamp } from '../../files/fileStamp.ts';
import { answerOf, type Patience } from '../../files/regularFile.ts';
import { deleteInRun, pathInRun, readPlain, replaceInRun, somethingAt } from '../../files/runFiles.ts';
import { isTrustedDisk } from '../../store/networkFileSystem.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import type { StoredRun } from '../../store/types.ts';

const FILE = 'work/reading.json';
/** Many times what it comes to with ten thousand inputs. */
const MOST_BYTES = 2 ** 26;

const readingSchema = z.object({
  /** Another version may cut parts differently. */
  appVersion: z.string(),
  run: z.string(),
  /** What the inputs looked like when the reading began. */
  inputs: z.array(z.object({ input: z.int(), stamp: z.string() })),
  /** Null while nothing is on disk that would have to be read again. */
  place: placeSchema.nullable(),
});
type Reading = z.infer<typeof readingSchema>;
type Inputs = readonly { input: number; path: string }[];

/**
 * How far prepare has read the inputs of a run, in a file beside what it has written. It is written when all before it is stored
 * in run.db, and is no more than a shortcut: what does not fit it, or is not as it was, is read from the beginning. That the inputs
 * have the content of the plan is seen from their SHA-256 when they have been read to their end, as always.
 */
export class ReadingPlace {
  private readonly store: RunStore;
  private readonly appVersion: string;
  private readonly run: string;
  private found: Reading | null;

  private constructor(store: RunStore, appVersion: string, run: string, found: Reading | null) {
    this.store = store;
    this.appVersion = appVersion;
    this.run = run;
    this.found = found;
  }

  /** Reads what an earlier session of work has left. Rejects with AppFailure where the inputs' disk does not answer. */
  static async open(
    store: RunStore,
    appVersion: string,
    run: StoredRun,
    patience?: Patience,
  ): Promise<ReadingPlace> {
    const { runId } = run.description;
    const none = new ReadingPlace(store, appVersion, runId, null);
    if (run.prepared !== null) return none;
    const found = readFileOf(store.folder);
    const inputs = run.inputs.filter(({ failure }) => failure === null);
    const isOfThis =
      found?.appVersion === appVersion &&
      found.run === runId &&
      (await isUnchanged(found.inputs, inputs, patience));
    return isOfThis ? new ReadingPlace(store, appVersion, runId, found) : none;
  }

  /** Whether the inputs are the very files that an earlier session began to read, on disks where that can be seen. */
  knowsInputs(inputs: Inputs): boolean {
    return this.found !== null && inputs.every(({ path }) => isTrustedDisk(dirname(path)));
  }

  /** From where prepare can go on with these inputs; null from the beginning. */
  async goOnFrom(inputs: Inputs): Promise<PrepareCommand['go_on_from']> {
    const place = this.found?.place;
    if (!place || !(await isUnchanged(this.found?.inputs ?? [], inputs))) return null;
    const { parts, recordFiles } = await this.store.readBefore(place);
    return parts === place.parts && recordFiles.length === place.record_files
      ? { place, record_files: recordFiles }
      : null;
  }

  /** Reading begins at the beginning. */
  async begin(inputs: Inputs): Promise<void> {
    this.forget();
    const stamps = await Promise.all(
      inputs.map(async ({ input, path }) => ({ input, stamp: await stampOf(path) })),
    );
    if (stamps.every((one): one is { input: number; stamp: string } => one.stamp !== null))
      this.save({ appVersion: this.appVersion, run: this.run, inputs: stamps, place: null });
  }

  /** All before this place has been stored. */
  reached(place: Place): void {
    if (this.found) this.save({ ...this.found, place });
  }

  /** What has been read has to be read again. */
  forget(): void {
    this.found = null;
    deleteInRun(this.store.folder, FILE);
  }

  private save(reading: Reading): void {
    const text = JSON.stringify(reading);
    replaceInRun(this.store.folder, FILE, Buffer.from(`${sha256(text)}\n${text}`));
    this.found = reading;
  }
}

function readFileOf(folder: string): Reading | null {
  if (!somethingAt(pathInRun(folder, FILE))) return null;
  const [digest = '', text = ''] = (readPlain(pathInRun(folder, FILE), MOST_BYTES)?.toString() ?? '').split(
    '\n',
  );
  return digest === sha256(text) ? (parseJson(readingSchema, text) ?? null) : null;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function isUnchanged(before: Reading['inputs'], inputs: Inputs, patience?: Patience): Promise<boolean> {
  if (before.length !== inputs.length) return false;
  const unchanged = inputs.map(
    async ({ input, path }, place) =>
      before[place]?.input === input && before[place].stamp === (await stampOf(path, patience)),
  );
  return (await Promise.all(unchanged)).every(Boolean);
}

async function stampOf(path: string, patience?: Patience): Promise<string | null> {
  const there = stat(path, { bigint: true }).catch(() => null);
  const file = await answerOf(there, path, patience);
  return file && fileStamp(file);
}
