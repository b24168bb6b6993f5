import { useMutation } from '@tanstack/react-query';
import { useTexts } from '../i18n/index.ts';
import { home } from './connection.ts';
import { say } from './say.ts';

/** For a button that copies a text and then confirms it. */
export function useCopy() {
  const { t } = useTexts();
  return useMutation({
    mutationFn: async (text: string) => {
      await copyText(text);
      say(t('common.copied'));
    },
  });
}

/** Copies through the shell in Electron, where pages have no clipboard access, else through the browser. */
export async function copyText(text: string): Promise<void> {
  if (window.virnucpro) {
    await home.shell.copyText({ text });
    return;
  }
  if (window.isSecureContext) {
    await navigator.clipboard.writeText(text);
    return;
  }
  copyThroughSelection(text);
}

/** Pages served over plain http from other hosts than localhost have no `navigator.clipboard`. */
function copyThroughSelection(text: string): void {
  const area = document.createElement('textarea');
  area.value = text;
  area.style.position = 'fixed';
  area.style.opacity = '0';
  document.body.append(area);
  area.select();
  // Deprecated, but the only way without a secure context.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const copied = document.execCommand('copy');
  area.remove();
  if (!copied) throw new Error('The browser did not allow copying. Select the text and copy it yourself.');
}
