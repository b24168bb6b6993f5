import { hostname } from 'node:os';
import { SHARE_NAME_OPTION, SHARE_OPTION } from '../../store/shares.ts';
import type { StoredRun } from '../../store/types.ts';

/** Where a share is computed. Several shares may be computed on one computer at the same time. */
export interface ShareNode {
  readonly node: string;
  /** Such as `3-of-8`. */
  readonly share: string;
}

/** The computer that computes a share, by which its devices are named; null for a run that is none. */
export function nodeOf({ description }: Pick<StoredRun, 'description'>): ShareNode | null {
  const { [SHARE_OPTION]: run, [SHARE_NAME_OPTION]: share } = description.options;
  if (run === undefined) return null;
  return { node: hostname(), share: typeof share === 'string' ? share : '' };
}
