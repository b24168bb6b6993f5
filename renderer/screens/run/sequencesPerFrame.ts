import type { RunProgress } from '../../../electron/contract/index.ts';

/**
 * Sequences of the input per reading frame that has to be computed: turns a device's frames per second into the pace at
 * which the run gets through its sequences, those without an open frame included. Null until frames have been read.
 */
export function sequencesPerFrame({ prepare }: Pick<RunProgress, 'prepare'>): number | null {
  return prepare.frames > 0 ? prepare.records / prepare.frames : null;
}
