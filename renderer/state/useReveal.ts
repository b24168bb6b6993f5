import { useMutation } from '@tanstack/react-query';
import { useTexts } from '../i18n/index.ts';
import { useCopy } from './clipboard.ts';
import { engine } from './connection.ts';
import { useSettings } from './settings.ts';

/** For a button that shows a path in the file manager, or copies it if there is none. */
export function useReveal() {
  const { t } = useTexts();
  const hasFileManager = useSettings((state) => state.info?.shell === 'electron');
  const copy = useCopy();
  const reveal = useMutation({ mutationFn: (path: string) => engine.shell.revealInFolder({ path }) });
  return {
    hasFileManager,
    label: hasFileManager ? t('path.reveal') : t('path.copy'),
    run: hasFileManager ? reveal.mutate : copy.mutate,
  };
}
