import { describe, expect, it } from 'vitest';
import { appError, AppFailure } from '../../../contract/errors.ts';
import type { PartDone } from '../../../contract/protocol/index.ts';
import type { RunStore } from '../../store/runStore.ts';
import type { StoredPart } from '../../store/types.ts';
import { PartLedger, type StoreAnswer } from './partLedger.ts';

const FULL = appError('disk_full', 'There is no space left.');
const START = { part: '000001', device: 'cpu:0', workerPid: 1, startedAt: 1, log: 'worker.log' };
const END = { type: 'end_attempt', key: '000001', outcome: 'interrupted', failure: null } as const;
const DONE = { part: '000001' } as PartDone;

/** A store with slow calls, and the order in which its calls began and ended. */
function slowStore(methods: Partial<Record<keyof RunStore, (...args: never[]) => unknown>>) {
  const calls: string[] = [];
  const store = Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [
      name,
      async (...args: never[]) => {
        calls.push(name);
        await new Promise((resolve) => setTimeout(resolve, 5));
        const value: unknown = await method(...args);
        calls.push(`${name} done`);
        return value;
      },
    ]),
  );
  return { store: store as unknown as RunStore, calls };
}

function ledgerOf(store: RunStore) {
  const answers: StoreAnswer[] = [];
  return { answers, ledger: new PartLedger(store, (answer) => answers.push(answer)) };
}

describe('PartLedger', () => {
  // An unhandled rejection ends the process, and the test with it.
  it('emits only that the store failed if returning a part cannot be stored', async () => {
    const { ledger, answers } = ledgerOf({
      startAttempt: () => Promise.resolve(1),
      endAttempt: () => Promise.reject(new AppFailure(FULL)),
    } as unknown as RunStore);
    ledger.startAttempt(START);
    ledger.perform(END);
    await ledger.stored();
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(answers).toEqual([{ type: 'store_failed', error: FULL }]);
  });

  it('reports a start that could not be stored when the attempt ends', async () => {
    const { ledger, answers } = ledgerOf({
      startAttempt: () => Promise.reject(new AppFailure(FULL)),
    } as unknown as RunStore);
    ledger.startAttempt(START);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(answers).toEqual([]);
    ledger.perform({ type: 'store_scores', done: DONE });
    await ledger.stored();
    expect(answers).toEqual([{ type: 'store_failed', error: FULL }]);
  });

  it('stores no scores of a part that was no longer waiting when it was handed out', async () => {
    const { store, calls } = slowStore({ startAttempt: () => null });
    const { ledger, answers } = ledgerOf(store);
    ledger.startAttempt(START);
    ledger.perform({ type: 'store_scores', done: DONE });
    await ledger.stored();
    expect(calls).toEqual(['startAttempt', 'startAttempt done']);
    expect(answers).toEqual([{ type: 'scores_stored', key: '000001', intake: { outcome: 'superseded' } }]);
  });

  it('reads the waiting part, or the halves that it was cut into', async () => {
    const stored = (key: string, state: string) => ({ key, state }) as StoredPart;
    const { store } = slowStore({
      part: (key: string) => stored(key, key === '000002' ? 'split' : 'pending'),
      pendingParts: () => ['000001', '000002.0', '000002.1.1', '000003'].map((key) => stored(key, 'pending')),
    });
    const { ledger, answers } = ledgerOf(store);
    for (const key of ['000001', '000002']) ledger.perform({ type: 'read_part', key });
    await ledger.stored();
    expect(answers.map((answer) => 'parts' in answer && answer.parts.map(({ key }) => key))).toEqual([
      ['000001'],
      ['000002.0', '000002.1.1'],
    ]);
  });
});
