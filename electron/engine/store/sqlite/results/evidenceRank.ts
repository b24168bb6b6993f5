import type { Evidence } from '../../../../contract/results.ts';

/** How evidence levels are stored, so that they sort. */
export const EVIDENCE_RANK: Readonly<Record<Evidence, number>> = { weak: 1, moderate: 2, strong: 3 };

export function evidenceOfRank(rank: number | null): Evidence | null {
  for (const [level, own] of Object.entries(EVIDENCE_RANK)) if (own === rank) return level as Evidence;
  return null;
}
