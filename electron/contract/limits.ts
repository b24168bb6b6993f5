import { z } from 'zod';

/**
 * Upper limits for a single call from a window. A larger call is refused before any work is done: the cost of
 * a call must not depend on what somebody puts into it.
 */
export const LIMITS = {
  /** Characters of a path; Linux allows as many bytes. */
  path: 4_096,
  /** Characters of a name, of a device or a model, and of other short texts. */
  word: 200,
  /** Characters of a list of devices: a node has at most a few dozen. */
  devices: 4_096,
  /** Files and folders named in one call, and sequence files found in them. */
  inputs: 20_000,
  /** Files and folders of weights named in one call. */
  weightFiles: 1_000,
  /** Files and folders visited below the folders of one call. */
  visited: 1_000_000,
  /** Tags of one run, and characters of the note on it. */
  tags: 20,
  note: 10_000,
  /** Sequences on the shortlist of one run. */
  shortlisted: 5_000,
  /** Parts and sequences named in one call. */
  rows: 20_000,
  /** Characters of a text for the clipboard, or of a sequence with its header. */
  text: 1_000_000,
  /** Characters of an address for the browser. */
  url: 2_048,
  /** Entries of a folder that the file chooser lists. */
  folderEntries: 5_000,
  /** The lowest memory limit that a run accepts: the smallest batch and one layer of the published models. */
  leastGpuMemoryBytes: 2_000_000_000,
  patience: 1_000,
} as const;

export const pathSchema = z.string().max(LIMITS.path);
/** An empty path, such as from an unset shell variable, would mean the current folder. */
export const inputPathSchema = pathSchema.min(1, 'The name of an input is empty.');
export const wordSchema = z.string().max(LIMITS.word);
