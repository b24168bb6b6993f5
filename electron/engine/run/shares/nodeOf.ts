import { hostname } from 'node:os';
import { SHARE_NAME_OPTION, SHARE_OPTION } from '../../store/shares.ts';
import type { StoredRun } from '../../store/types.ts';

/** The computer on which a share is computed. One computer may compute several shares at the same time. */
export interface ShareNode {
  readonly node: string;
  /** For example `3-of-8`. */
  readonly share: string;
}

/**
 * The computer that computes a share, which is part of its devices' names; null for a run that is no share.
 */
export function nodeOf({ description }: Pick<StoredRun, 'description'>): ShareNode | null {
  const { [SHARE_OPTION]: run, [SHARE_NAME_OPTION]: share } = description.options;
  if (run === undefined) return null;
  return { node: hostname(), share: typeof share === 'string' ? share : '' };
}
