import { expect, it, vi } from 'vitest';
import { createTexts } from '../../i18n/index.ts';
import { madeRuns } from '../../testing/memoryEngine/runs.ts';
import { renderWithEngine } from '../../testing/render.tsx';
import { printReport } from './useExport.ts';

it('leaves no blank window open if a report cannot be made', async () => {
  await renderWithEngine(null);
  const [run] = madeRuns(Date.now());
  if (!run) throw new Error('There is no run.');
  const page = { close: vi.fn() };
  vi.spyOn(window, 'open').mockReturnValue(page as unknown as Window);
  await expect(printReport(run, ['no such part' as 'plots'], createTexts('en'))).rejects.toThrow();
  expect(page.close).toHaveBeenCalled();
});
