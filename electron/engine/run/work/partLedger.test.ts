import { expect, it } from 'vitest';
import { appError, AppFailure, type AppError } from '../../../contract/errors.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import type { StoredPart } from '../../store/types.ts';
import type { RunNotes } from '../runNotes.ts';
import { PartLedger } from './partLedger.ts';

const FULL = appError('disk_full', 'There is no space left.');
const PART = {
  key: '000001',
  path: 'work/parts/000001.safetensors',
  sha256: '',
  frameBegin: 0,
  frameEnd: 1,
  residues: 1,
  attempts: 0,
  bisected: false,
} as unknown as StoredPart;

// A promise that fails with nobody to hear it ends the process, and the test with it.
it('halts the run, and no more, where giving back a part cannot be stored', async () => {
  const halts: AppError[] = [];
  const store = {
    folder: '/run',
    startAttempt: () => Promise.resolve(1),
    endAttempt: () => Promise.reject(new AppFailure(FULL)),
  } as unknown as RunStore;
  const ledger = new PartLedger(store, {} as unknown as RunNotes, false, {
    changed: () => undefined,
    halt: (error) => halts.push(error),
    partLost: () => undefined,
  });
  ledger.offer(PART);
  expect(ledger.take('cpu:0', 1, 'worker.log')?.part).toBe('000001');
  ledger.giveBack('cpu:0', '000001', 'interrupted');
  await ledger.stored();
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(halts).toEqual([FULL]);
});
