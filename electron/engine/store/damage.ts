import type { DamageReport } from './types.ts';

export const NO_DAMAGE: DamageReport = {
  plan: false,
  counts: null,
  index: false,
  parts: [],
  recordFiles: [],
  strayChunks: 0,
};

export function isSound({ plan, counts, index, parts, recordFiles, strayChunks }: DamageReport): boolean {
  return (
    !plan && counts === null && !index && parts.length === 0 && recordFiles.length === 0 && strayChunks === 0
  );
}

export function damageWords({ plan, counts, index, parts, recordFiles, strayChunks }: DamageReport): string {
  return [
    plan ? 'The plan stored in run.db, or what it says of the inputs, is damaged.' : '',
    parts.length > 0 ? `Stored scores of ${parts.length} parts are damaged.` : '',
    recordFiles.length > 0 ? 'Stored names or lengths of sequences are damaged.' : '',
    strayChunks !== 0 ? 'run.db holds scores that belong to no part.' : '',
    index ? 'The index of the parts is damaged.' : '',
    counts === null ? '' : `What run.db holds does not add up (${counts}).`,
  ]
    .filter((words) => words !== '')
    .join(' ');
}
