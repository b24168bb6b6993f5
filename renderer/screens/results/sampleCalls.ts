/** The calls that the sequences of a sample are counted by, in the order and the colours in which they are drawn. */
export const SAMPLE_CALLS = [
  { key: 'virus', prediction: 'virus', color: 'var(--virus)' },
  { key: 'others', prediction: 'others', color: 'var(--others)' },
  { key: 'notScored', prediction: 'not_scored', color: 'var(--not-scored)' },
  { key: 'failed', prediction: 'failed', color: 'var(--failed)' },
] as const;
