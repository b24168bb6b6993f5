import { join } from 'node:path';
import { expect, test } from '../support/fixtures.ts';
import { writeFirstDay } from '../support/inputs.ts';
import { drop, expectNoComplaint, isDone, takeTeachingModel } from '../support/window.ts';

test('sixteen files of a first day: one table with its reasons, few words, and Start in sight; what can be used runs', async ({
  window,
  places,
}) => {
  const folder = join(places.files, 'first day');
  await writeFirstDay(folder);
  await drop(window, [folder]);
  await expect(window.getByText('11 files · 1,335 sequences')).toBeVisible();
  await expect(window.getByRole('grid', { name: 'Sequences' })).toHaveAttribute('aria-rowcount', '17');
  await expect(window.getByText('Reading …', { exact: true })).toHaveCount(0);
  // What is left to mend: files that cannot be used, RNA, gaps, and files that the sheet does not name.
  const toMend = window.getByRole('button', { name: '4 things to mend' });
  await expect(toMend).toBeVisible();
  await expect(
    window.getByText('Sequences that can be judged, by chunk length', { exact: false }),
  ).toBeVisible();
  const start = window.getByRole('button', { name: 'Start', exact: true });
  const expectShort = async () => {
    expect((await start.boundingBox())?.y).toBeLessThanOrEqual(900);
    expect(await window.evaluate<number>(WORDS_IN_SIGHT)).toBeLessThanOrEqual(180);
  };
  await expectShort();
  await expect(start).toBeInViewport({ ratio: 1 });
  await toMend.click();
  await expect(window.getByText('4 files cannot be used')).toBeInViewport({ ratio: 1 });
  await expectShort();
  await toMend.click();
  await expect(window.getByText('4 files cannot be used')).toBeHidden();
  await takeTeachingModel(window);
  await expect(window.getByText('Results will be marked as not for research.')).toBeVisible();
  await expectShort();

  const files = window.getByRole('grid', { name: 'Sequences' });
  await files.press('End');
  const last = files.getByRole('row').filter({ hasText: 'RNA, with U instead of T' });
  await files.press('Enter');
  const details = window.getByRole('region', { name: 'rna.fasta' });
  const [row, beside] = [await last.boundingBox(), await details.boundingBox()];
  expect(beside?.x).toBeGreaterThan((row?.x ?? 0) + (row?.width ?? 0) - 1);
  await expect(details).toBeInViewport({ ratio: 1 });
  await expect(start).toBeInViewport({ ratio: 1 });
  await expectShort();
  await toMend.click();
  await expect(window.getByText('4 files cannot be used')).toBeInViewport({ ratio: 1 });
  await expect(window.getByText('into pond_R2_predictions')).toBeVisible();
  await expectShort();
  await expectNoComplaint(window, 'New run with sixteen files');
  await window.getByRole('button', { name: 'Read U as T' }).click();
  await expect(window.getByText('U is read as T, in all files.')).toBeVisible();
  await expect(window.getByRole('button', { name: '3 things to mend' })).toBeVisible();

  for (const [key, name, complaint] of [
    ['Home', 'cut off.fasta.gz', /ends too early|cut off/i],
    ['End', 'proteins.fa', 'Proteins, not DNA.'],
  ] as const) {
    await files.press(key);
    const left = files.getByRole('row', { name });
    await expect(left).toContainText('Left out');
    await left.click();
    await expect(window.getByRole('heading', { level: 3, name })).toBeVisible();
    await expect(window.getByRole('listitem').filter({ hasText: complaint }).first()).toBeVisible();
  }
  await window.getByRole('button', { name: 'Remove from the list' }).first().click();
  await start.click();
  await isDone(window);
  await expect(window.getByText(/^1,\d+ sequences shown/)).toBeVisible();
});

/** Counts the words of the screen that are in sight: not those scrolled away, nor those for screen readers alone. */
const WORDS_IN_SIGHT = `(() => {
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  let words = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(node);
    let { left, top, right, bottom } = range.getBoundingClientRect();
    for (let at = node.parentElement; at; at = at.parentElement) {
      if (getComputedStyle(at).overflow === 'visible') continue;
      const clip = at.getBoundingClientRect();
      [left, top] = [Math.max(left, clip.left), Math.max(top, clip.top)];
      [right, bottom] = [Math.min(right, clip.right), Math.min(bottom, clip.bottom)];
    }
    if (Math.min(right, innerWidth) - Math.max(left, 0) < 3 || Math.min(bottom, innerHeight) - Math.max(top, 0) < 3) continue;
    words += node.data.match(/\\S*[\\p{L}\\p{N}]\\S*/gu)?.length ?? 0;
  }
  return words;
})()`;
