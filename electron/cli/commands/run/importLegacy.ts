import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { asAppError, appFailure, usage } from '../../../contract/errors.ts';
import type { EngineContext } from '../../../engine/index.ts';
import { predict, type PredictFlags } from './predict.ts';

/** The original writes `gut_chunked500.fa` beside `gut.fa`. */
const CHUNKED = /^(?<stem>.+)_chunked(?<length>\d{1,6})\.(fa|fna|fasta)$/i;
const SEQUENCE_FILE = /\.(fa|fna|fasta|fas)(\.gz)?$/i;

/** Continues a run of the original tool, or of its fork, from the embeddings in its folder. */
export async function importLegacy(
  context: EngineContext,
  folder: string,
  named: string[],
  flags: PredictFlags,
): Promise<number> {
  const found = await lookInto(folder);
  const inputs = [...named, ...(flags.input ?? [])];
  if (inputs.length === 0 && found.input === undefined) {
    const cause = `The file that the run in ${folder} was made from is not beside its results.`;
    const nextStep = 'Name it: "virnucpro import-legacy FOLDER FILE".';
    throw usage(cause, nextStep);
  }
  const chosenModel = flags.model ?? flags.modelPath;
  return predict(context, inputs.length > 0 ? inputs : [found.input ?? ''], {
    ...flags,
    input: [],
    reuseEmbeddings: folder,
    ...(chosenModel === undefined && found.model !== undefined ? { model: found.model } : {}),
  });
}

/** The input of a run, and the model for its chunk length, if the names of its files show them. */
async function lookInto(folder: string): Promise<{ input?: string; model?: string }> {
  let names: string[];
  try {
    names = (await readdir(folder)).toSorted();
  } catch (reason) {
    const nextStep = 'Name the folder that the earlier tool wrote.';
    throw appFailure('legacy_unusable', asAppError(reason).cause, { nextStep });
  }
  const chunked = names.map((name) => CHUNKED.exec(name)?.groups).filter((groups) => groups !== undefined);
  const [only] = chunked;
  if (chunked.length !== 1 || only === undefined) return {};
  const input = names.find(
    (name) => SEQUENCE_FILE.test(name) && name.replace(SEQUENCE_FILE, '') === only['stem'],
  );
  const length = only['length'] ?? '';
  return {
    ...(input === undefined ? {} : { input: resolve(join(folder, input)) }),
    ...(length === '300' || length === '500' ? { model: length } : {}),
  };
}
