import type { Dirent, Stats } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import {
  type AppFailure,
  asAppError,
  err,
  ok,
  type Result,
  appFailure,
  errorOf,
  failWith,
  usage,
} from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import {
  BEGINNING_BYTES,
  beginsWithSequences,
  fateInFolder,
  isSheetOfFolder,
  RUN_DATABASE,
} from '../../contract/folderNames.ts';
import { tooLong, type PathLimit } from '../system/pathLength.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { isBlocking } from '../../contract/problems.ts';
import {
  inspectedFileSchema,
  type InspectedFile,
  type OtherGeneticCode,
  type Repair,
} from '../../contract/protocol/index.ts';
import { pythonLaunch, type PythonEnvironment } from '../environment/pythonLaunch.ts';
import { describeExit, type ProcessExit, ReadingProcess } from '../workers/childProcess.ts';

export interface CollectedInputs {
  paths: string[];
  /** Number of files and hidden folders in folders that are not used, and the first few of them. */
  ignored: number;
  someIgnored: string[];
}

const MOST_IGNORED_NAMED = 100;

/** How folders are searched. Without these options every link is followed, and there is no limit. */
export interface Walk {
  /** Whether a link found in a folder may be followed; otherwise the link is ignored. */
  mayFollow?: (link: string) => Promise<boolean>;
  /** How many sequence files may be found, and how many files and folders may be visited to find them. */
  most?: { files: number; visited: number };
  signal?: AbortSignal;
  limit?: PathLimit;
  /** Also collects the sample sheets in folders. */
  sheets?: boolean;
}

/**
 * Collects the files that the user named and the sequence files below the named folders, each once, in order.
 */
export async function collectInputs(
  named: readonly string[],
  walk: Walk = {},
): Promise<Result<CollectedInputs>> {
  const paths = new Set<string>();
  const below = new FolderWalk(walk);
  try {
    for (const name of named) {
      const path = resolve(name);
      const info = await stat(path).catch(() => undefined);
      if (!info) return failWith('input_not_found', message('input.not_found', { path }));
      if (info.isFile()) {
        paths.add(path);
      } else if (info.isDirectory()) {
        for (const file of (await below.sequenceFiles(path)).sort()) paths.add(file);
      } else {
        return failWith('input_unreadable', message('input.pipe', { path }));
      }
    }
  } catch (reason) {
    return err(asAppError(reason));
  }
  if (paths.size === 0) {
    return failWith('no_sequences', message('input.none_in_folder'));
  }
  for (const path of paths) {
    const long = tooLong(path, { code: 'input_unreadable' }, walk.limit);
    if (long !== undefined) return err(long);
  }
  return ok({ paths: [...paths], ignored: below.ignored, someIgnored: below.someIgnored });
}

class FolderWalk {
  ignored = 0;
  readonly someIgnored: string[] = [];
  private readonly walk: Walk;
  private visited = 0;
  private taken = 0;

  constructor(walk: Walk) {
    this.walk = walk;
  }

  /**
   * Links are followed if they may be. A broken link counts as a file, so that the later inspection reports
   * what is wrong with it. The results of an earlier run, which also contain sequences, are not inputs unless
   * the user names them.
   */
  async sequenceFiles(named: string): Promise<string[]> {
    const { files: most = Number.POSITIVE_INFINITY, visited = Number.POSITIVE_INFINITY } =
      this.walk.most ?? {};
    const files: string[] = [];
    // Links can form a cycle.
    const entered = new Set<string>();
    const enter = async (folder: string): Promise<void> => {
      const real = await realpath(folder);
      if (entered.has(real)) return;
      entered.add(real);
      this.walk.signal?.throwIfAborted();
      const entries = await entriesOf(folder);
      this.visited += entries.length;
      const ofRun = entries.some(({ name }) => name === RUN_DATABASE);
      for (const entry of entries) {
        const path = join(folder, entry.name);
        const kind = entry.isSymbolicLink() ? await this.linked(path, entry) : entry;
        if (kind === undefined) continue;
        const isFolder = kind.isDirectory();
        if (!isFolder && !kind.isFile() && !kind.isSymbolicLink()) continue;
        const fate = fateInFolder(entry.name, isFolder ? 'folder' : 'file', ofRun);
        if (fate === 'passed over') continue;
        if (isFolder && fate === 'taken') await enter(path);
        else if (
          fate === 'taken'
            ? this.walk.sheets || !isSheetOfFolder(entry.name)
            : fate === 'unknown' && (await holdsSequences(path))
        )
          files.push(path);
        else {
          this.ignored += 1;
          if (this.someIgnored.length < MOST_IGNORED_NAMED) this.someIgnored.push(path);
        }
        if (this.taken + files.length > most || this.visited > visited) throw tooMany(named);
      }
    };
    await enter(named);
    this.taken += files.length;
    return files;
  }

  /** Returns what a link leads to; nothing if it may not be followed. */
  private async linked(path: string, link: Dirent): Promise<Dirent | Stats | undefined> {
    if (this.walk.mayFollow && !(await this.walk.mayFollow(path))) return undefined;
    return stat(path).catch(() => link);
  }
}

async function holdsSequences(path: string): Promise<boolean> {
  const file = await open(path).catch(() => undefined);
  try {
    const beginning = await file?.read(Buffer.alloc(BEGINNING_BYTES));
    return beginning !== undefined && beginsWithSequences(beginning.buffer.subarray(0, beginning.bytesRead));
  } catch {
    return false;
  } finally {
    await file?.close();
  }
}

function tooMany(folder: string): AppFailure {
  return usage(message('input.too_many', { folder }));
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (reason) {
    throw appFailure(
      'input_unreadable',
      message('input.folder_unreadable', { folder, reason: asAppError(reason).cause }),
    );
  }
}

const lineSchema = z.discriminatedUnion('type', [
  inspectedFileSchema,
  // A sign of life.
  z.object({ type: z.literal('reading') }),
]);
const LONGEST_DETAIL = 2_000;

/** The settings on which the figures of a file depend. */
export interface Reading {
  readonly looks: readonly string[];
  readonly repairs: readonly Repair[];
  readonly minLength?: number | undefined;
  readonly geneticCode?: OtherGeneticCode | undefined;
}

/** Reads files to their end and reports their contents, one after the other, in the given order. */
export async function inspectInputs(
  { environment }: { environment: PythonEnvironment },
  paths: readonly string[],
  { looks, repairs, minLength, geneticCode }: Reading,
  onFile: (file: InspectedFile) => void,
  signal?: AbortSignal,
): Promise<Result<void>> {
  const launch = pythonLaunch(environment, 'virnucpro_backend.prepare.inspect', [
    ...looks.flatMap((look) => ['--look', look]),
    ...repairs.flatMap((repair) => ['--repair', repair]),
    ...(minLength === undefined ? [] : ['--min-length', String(minLength)]),
    ...(geneticCode === undefined ? [] : ['--genetic-code', String(geneticCode)]),
  ]);
  let files = 0;
  let garbage: string | undefined;
  const reading = new ReadingProcess(launch, (line) => {
    const parsed = parseJson(lineSchema, line);
    if (parsed === undefined) {
      garbage ??= line;
      void reading.stop();
    } else if (parsed.type === 'inspected' && garbage === undefined) {
      onFile(parsed);
      files += 1;
    }
  });
  const abort = (): void => void reading.stop();
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  // The paths are not passed as arguments: a folder of genomes holds more of them than a command line allows.
  reading.send(paths.map((path) => `${JSON.stringify(path)}\n`).join(''));
  let result: ProcessExit;
  try {
    result = await reading.ended();
  } catch (reason) {
    return err(asAppError(reason));
  } finally {
    signal?.removeEventListener('abort', abort);
  }
  if (signal?.aborted || files === paths.length) return ok(undefined);
  if (garbage !== undefined) {
    const cause = 'Looking into the files failed: its answer is not one.';
    return failWith('internal', cause, { detail: garbage.slice(0, LONGEST_DETAIL) });
  }
  return failWith('python_broken', `Looking into the files stopped: ${describeExit(result)}.`, {
    detail: result.lastLines.join('\n'),
  });
}

/** Looks into the named files and refuses the first that a run could not use, in the same words. */
export async function inspectUsable(
  place: { environment: PythonEnvironment },
  named: readonly string[],
  reading: Reading,
): Promise<Result<InspectedFile[]>> {
  const collected = await collectInputs(named);
  if (!collected.ok) return collected;
  const files: InspectedFile[] = [];
  const inspected = await inspectInputs(place, collected.value.paths, reading, (file) => files.push(file));
  if (!inspected.ok) return inspected;
  for (const { path, problems } of files) {
    const problem = problems.find(isBlocking);
    if (problem) return err(errorOf(problem, basename(path)));
  }
  return ok(files);
}
