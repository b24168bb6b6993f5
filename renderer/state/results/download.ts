import { notifications } from '@mantine/notifications';
import type { Texts } from '../../i18n/index.ts';
import { chosenComputer, home } from '../connection.ts';
import { say } from '../say.ts';

/** Downloads a file that the engine offers: through the browser, or through the program if it is on another computer. */
export async function download(path: string, texts: Pick<Texts, 't' | 'format'>): Promise<void> {
  if (chosenComputer !== null) await fetchFrom(chosenComputer, path, texts);
  else downloadInBrowser(path);
}

/** Saves it at a place that the user chooses, and resumes a broken transfer. The file is either complete or absent. */
async function fetchFrom(
  address: string,
  offer: string,
  { t, format }: Pick<Texts, 't' | 'format'>,
): Promise<void> {
  const suggestedName = decodeURIComponent(offer.split('/').at(-1) ?? '');
  const { path } = await home.shell.chooseSaveFile({ suggestedName });
  if (path === null) return;
  const notice = notifications.show({ message: '', autoClose: false, withCloseButton: false });
  try {
    for await (const { doneBytes, totalBytes } of await home.computers.transfer({ address, path, offer })) {
      const percent = format.percent(totalBytes === 0 ? 0 : doneBytes / totalBytes);
      notifications.update({
        id: notice,
        message: t('computers.fetching', { name: suggestedName, percent }),
        autoClose: false,
        withCloseButton: false,
      });
    }
    say(t('computers.fetched', { path }));
  } finally {
    notifications.hide(notice);
  }
}

/** The address of a file that the engine offers, relative to the page. */
const addressOf = (path: string): string =>
  new URL(path.replace(/^\//, ''), location.href.split('#')[0]).href;

function downloadInBrowser(path: string): void {
  const link = document.createElement('a');
  link.href = addressOf(path);
  link.download = '';
  link.click();
}
