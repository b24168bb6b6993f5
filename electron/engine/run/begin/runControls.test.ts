import { expect, it } from 'vitest';
import { syntheticPlan } from '../../store/testing/syntheticRun.ts';
import { temporaryFolder, testContext } from '../../testing/testContext.ts';
import type { RunNotes } from '../runNotes.ts';
import { controlsAtBegin } from './runControls.ts';

const CPU = { kind: 'cpu', id: 'cpu:0', name: 'Processor', precisions: ['fp32'] } as const;

/** The event codes of a run when nothing can be computed, because this computer's Python is missing. */
async function noted(signal: AbortSignal, devices = [CPU]): Promise<string[]> {
  const own = testContext();
  const context = {
    ...own,
    paths: { ...own.paths, dataDir: temporaryFolder() },
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

it('continues without a check that fails, and reports that', async () => {
  expect(await noted(new AbortController().signal)).toEqual(['controls_failed']);
});

it('reports nothing about a check that the user stops with the run', async () => {
  expect(await noted(AbortSignal.abort())).toEqual([]);
});

it('reports that other computers compute', async () => {
  expect(await noted(new AbortController().signal, [])).toEqual(['controls_not_here']);
});
