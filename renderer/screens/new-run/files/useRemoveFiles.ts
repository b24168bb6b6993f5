import { useCallback } from 'react';
import { sayUndo } from '../../../components/feedback/sayUndo.tsx';
import { fileName } from '../../../i18n/format.ts';
import { useTexts } from '../../../i18n/index.ts';
import { removeFiles } from '../../../state/newRun/store.ts';

/** Removes files from the list, and offers to undo that. */
export function useRemoveFiles(): (paths: readonly string[]) => void {
  const { t } = useTexts();
  return useCallback(
    (paths) => {
      const undo = removeFiles(paths);
      const text = t('newRun.removed', { count: paths.length, name: fileName(paths[0] ?? '') });
      sayUndo(text, t('newRun.bringBack'), undo);
    },
    [t],
  );
}
