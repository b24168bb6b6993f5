import { hostname } from 'node:os';
import { SHARE_OPTION } from '../../store/shares.ts';
import type { StoredRun } from '../../store/types.ts';

/** The computer that computes a share, by which its devices are named; null for a run that is none. */
export function nodeOf({ description }: Pick<StoredRun, 'description'>): string | null {
  return SHARE_OPTION in description.options ? hostname() : null;
}
