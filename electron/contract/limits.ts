import { z } from 'zod';

/**
 * The most that a window may send in one call. More is refused before anything is done with it: what a call costs must not
 * depend on what somebody puts into it.
 */
export const LIMITS = {
  /** Of a path, in characters: what Linux takes, in bytes. */
  path: 4_096,
  /** Of names, of devices and models, and what else is a word or two. */
  word: 200,
  /** Of a list of devices: a node has at most a few dozen. */
  devices: 4_096,
  /** Files and folders named in one call, and sequence files found below them. */
  inputs: 20_000,
  /** Files and folders of weights named in one call. */
  weightFiles: 1_000,
  /** Files and folders looked at below the folders of one call. */
  visited: 1_000_000,
  /** Of one run or sequence, and of the note on it in characters. */
  tags: 20,
  note: 10_000,
  /** Sequences of one run with a note or tags. */
  notedSequences: 5_000,
  /** Parts and sequences named in one call. */
  rows: 20_000,
  /** Of a text for the clipboard: of a sequence, with its header, too. */
  text: 1_000_000,
  /** Of a picture to save, in characters of Base64. */
  picture: 30_000_000,
  /** Of an address for the browser. */
  url: 2_048,
  /** Entries of a folder that the file chooser shows. */
  folderEntries: 5_000,
  /** The least that a run may be held to: beside the smallest batch, a layer of the published models. */
  leastGpuMemoryBytes: 2_000_000_000,
  patience: 1_000,
} as const;

export const pathSchema = z.string().max(LIMITS.path);
/** Nothing, as from an unset variable of a shell, would stand for the current folder. */
export const inputPathSchema = pathSchema.min(1, 'The name of an input is empty.');
export const wordSchema = z.string().max(LIMITS.word);
