import { useMediaQuery } from '@mantine/hooks';
import { useMemo } from 'react';
import { useResultsView } from '../../../state/results/resultsView.ts';

/** What a narrow window leaves out unless it is asked for: the name needs the room. */
const NARROW = { row: false };

/** By column whether it is shown; a column that is not named is. */
export function useHiddenColumns(): Readonly<Record<string, boolean>> {
  const chosen = useResultsView((state) => state.hiddenColumns);
  const isNarrow = useMediaQuery('(max-width: 1100px)', false, { getInitialValueInEffect: false });
  return useMemo(() => (isNarrow ? { ...NARROW, ...chosen } : chosen), [isNarrow, chosen]);
}
