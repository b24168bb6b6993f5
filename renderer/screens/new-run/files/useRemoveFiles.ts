import { useCallback } from 'react';
import { fileName } from '../../../i18n/names.ts';
import { useTexts } from '../../../i18n/index.ts';
import { removeFiles } from '../../../state/newRun/store.ts';
import { say } from '../../../state/say.ts';

/** Removes files from the list, and offers to undo that. */
export function useRemoveFiles(): (paths: readonly string[]) => void {
  const { t } = useTexts();
  return useCallback(
    (paths) => {
      const undo = removeFiles(paths);
      const text = t('newRun.removed', { count: paths.length, name: fileName(paths[0] ?? '') });
      say(text, [{ label: t('common.undo'), run: undo }]);
    },
    [t],
  );
}
