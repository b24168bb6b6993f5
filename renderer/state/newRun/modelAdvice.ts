import {
  advisedLook,
  judgedOf,
  looksOf,
  type JudgedFiles,
  type ModelStatus,
} from '../../../electron/contract/index.ts';
import { inspectedOf, type ListedFile } from './inspection.ts';

type Models = readonly Pick<ModelStatus, 'chunkLength' | 'notice'>[] | null;

/** The look of the models for research that fits these files; null while nothing is known, or if there is no such model. */
export function adviseLook(files: readonly ListedFile[], models: Models): JudgedFiles | null {
  return advisedLook(inspectedOf(files), looksOf(lengthsOf(models)));
}

/** What each look of these models judges of the files. */
export function judgedByLooks(files: readonly ListedFile[], models: Models): JudgedFiles[] {
  return looksOf(lengthsOf(models)).flatMap((look) => judgedOf(inspectedOf(files), look) ?? []);
}

/** The chunk length of a look, and that of its second look, if it has one. */
export function lengthsOfLook(look: string): readonly [number, number | null] {
  const [first = Number.NaN, second = null] = look.split('+').map(Number);
  return [first, second];
}

/** The files of one of two runs, and the chunk length that fits them. */
export interface FilesOfLength {
  readonly chunkLength: number;
  readonly files: readonly ListedFile[];
}

/**
 * Separates reads from contigs if there are files of both: those for which a shorter model alone fits best, and the others, with which
 * files go that nothing is known of. Null if one model fits all.
 */
export function splitByLength(
  files: readonly ListedFile[],
  models: Models,
): { readonly shorter: FilesOfLength; readonly longer: FilesOfLength } | null {
  const longest = Math.max(...lengthsOf(models));
  const isShort = (file: ListedFile): boolean => {
    const advised = adviseLook([file], models);
    return advised !== null && lengthsOfLook(advised.look)[0] < longest;
  };
  const [some, others] = [files.filter(isShort), files.filter((file) => !isShort(file))];
  const [shorter, longer] = [adviseLook(some, models), adviseLook(others, models)];
  if (!shorter || !longer) return null;
  return {
    shorter: { chunkLength: lengthsOfLook(shorter.look)[0], files: some },
    longer: { chunkLength: longest, files: others },
  };
}

const lengthsOf = (models: Models): number[] =>
  (models ?? []).filter(({ notice }) => notice === null).map(({ chunkLength }) => chunkLength);
