import type { InputProblem } from '../../contract/protocol/index.ts';
import type { Damage } from '../../contract/runState.ts';

/** Problems of records that cannot be read as they were written; each has its row in failed_records.tsv. */
const OF_RECORDS: ReadonlySet<string> = new Set(['malformed_record', 'invalid_characters']);
const OF_NO_RECORD = 'passed_over';

export const NO_DAMAGE: Damage = { records: 0, lines: 0 };

interface Coded {
  code: string;
}

export const isStretch = ({ code }: Coded): boolean => code === OF_NO_RECORD;

export const isDamage = ({ code }: Coded): boolean => OF_RECORDS.has(code) || code === OF_NO_RECORD;

/** Adds up what of the inputs is in no score because it is damaged. */
export function damageOf(problems: readonly Pick<InputProblem, 'code' | 'count'>[]): Damage {
  const sum = (found: typeof problems) => found.reduce((total, { count }) => total + count, 0);
  return {
    records: sum(problems.filter(({ code }) => OF_RECORDS.has(code))),
    lines: sum(problems.filter(isStretch)),
  };
}
