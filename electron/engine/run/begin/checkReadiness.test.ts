import { expect, it } from 'vitest';
import { syntheticPlan } from '../../store/testing/syntheticRun.ts';
import type { StoredRun } from '../../store/types.ts';
import { temporaryFolder, testContext } from '../../testing/testContext.ts';
import { checkReadiness } from './checkReadiness.ts';

it('merges shares without the model, but prepares nothing without it', async () => {
  const folder = temporaryFolder();
  const wanted = { where: { kind: 'shares', on_processors: true }, devices: 'auto' } as const;
  const ready = async (prepared: object | null) => {
    const run = { plan: syntheticPlan(1), inputs: [], prepared, state: { phase: 'paused', error: null } };
    return checkReadiness(testContext(), folder, run as unknown as StoredRun, wanted);
  };
  expect(await ready({ type: 'done' })).toMatchObject({ ok: true, value: { devices: [] } });
  expect(await ready(null)).toMatchObject({ ok: false, error: { code: 'model_missing' } });
});
