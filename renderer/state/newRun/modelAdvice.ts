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

const lengthsOf = (models: Models): number[] =>
  (models ?? []).filter(({ notice }) => notice === null).map(({ chunkLength }) => chunkLength);
