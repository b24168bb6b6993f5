import { expect, it } from 'vitest';
import { syntheticPlan } from '../../store/testing/syntheticRun.ts';
import { temporaryFolder, testContext } from '../../testing/testContext.ts';
import type { RunNotes } from '../runNotes.ts';
import { controlsAtBegin } from './runControls.ts';

const CPU = { kind: 'cpu', id: 'cpu:0', name: 'Processor', precisions: ['fp32'] } as const;

/** The codes that a run notes where nothing can be computed, as the interpreter of this computer is missing. */
async function noted(signal: AbortSignal, devices = [CPU]): Promise<string[]> {
  const own = testContext();
  const context = {
    ...own,
    paths: { ...own.paths, dataDir: await temporaryFolder() },
    environment: { ...own.environment, interpreter: '/nowhere/python' },
  };
  const codes: string[] = [];
  const notes = { add: (_: string, code: string) => codes.push(code) } as unknown as RunNotes;
  const begin = { plan: syntheticPlan(1), driver: null, withControls: true, isFirst: true, signal };
  await controlsAtBegin(context, notes, {
    ...begin,
    devices: devices.map((device) => ({ ...device, precisions: [...device.precisions] })),
  });
  return codes;
}

it('goes on without a check that fails, and says so', async () => {
  expect(await noted(new AbortController().signal)).toEqual(['controls_failed']);
});

it('is quiet about a check that the user stops with the run', async () => {
  expect(await noted(AbortSignal.abort())).toEqual([]);
});

it('says so where other computers compute', async () => {
  expect(await noted(new AbortController().signal, [])).toEqual(['controls_not_here']);
});
