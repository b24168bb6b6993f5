import { modals } from '@mantine/modals';
import { blastAddress, blastSearchSchema, type BlastSearch } from '../../../electron/contract/index.ts';
import { sayError } from '../say.ts';
import type { Texts } from '../../i18n/index.ts';
import { copyText } from '../clipboard.ts';
import { home } from '../connection.ts';

/** Asks first, because the letters leave the computer, then opens NCBI's BLAST with the letters filled in. If they are too long for an
 * address, they are copied for the user to paste there. */
export function askAndSearchBlast(search: BlastSearch, { t }: Pick<Texts, 't'>): void {
  const fits = blastSearchSchema.safeParse(search).success;
  modals.openConfirmModal({
    title: t('blast.title'),
    children: t(fits ? 'blast.text' : 'blast.textLong'),
    // The drawer behind it has a header too, and a page may have only one.
    attributes: { header: { role: 'presentation' } },
    labels: { confirm: t(fits ? 'blast.search' : 'blast.copyAndOpen'), cancel: t('common.cancel') },
    onConfirm: () => {
      searchBlast(search, fits).catch(sayError);
    },
  });
}

async function searchBlast(search: BlastSearch, fits: boolean): Promise<void> {
  if (!fits) await copyText(search.query);
  const sent = fits ? search : { ...search, query: '' };
  if (window.virnucpro) await home.shell.searchBlast(sent);
  else window.open(blastAddress(sent), '_blank', 'noopener,noreferrer');
}
