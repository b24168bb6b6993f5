import { describe, expect, it } from 'vitest';
import { unwrap } from '../../contract/errors.ts';
import { probeDevices } from '../devices/probeDevices.ts';
import type { CommandRunner } from '../environment/runCommand.ts';
import { temporaryFolder, testContext, WITHOUT_PYTHON } from '../testing/testContext.ts';
import { resolveModel } from './resolveModel.ts';
import { checkAnswers, lastAnswers } from '../devices/selfTest/modelLevel.ts';

describe.skipIf(WITHOUT_PYTHON)('the check of known answers', () => {
  it('finds that the teaching model is right on this computer, and notices when this result is outdated', async () => {
    const { environment, paths: usual } = testContext();
    const paths = { ...usual, dataDir: await temporaryFolder() };
    const found = unwrap(await probeDevices(environment));
    const probe = { ...found, gpus: [] };
    const { planModel: model } = unwrap(await resolveModel('teaching', paths));
    expect(await lastAnswers(environment, paths, probe, model)).toBeNull();

    const answers = unwrap(await checkAnswers(environment, paths, probe, model));
    expect(answers.against).toBe('stored');
    expect(answers.devices).toMatchObject([{ id: 'cpu:0' }]);
    for (const { problem } of answers.devices.flatMap(({ precisions }) => precisions))
      expect(problem).toBeNull();

    expect(await lastAnswers(environment, paths, probe, model)).toEqual({ answers, outdated: null });
    const otherDriver = { ...probe, driver_version: '999.1' };
    expect(await lastAnswers(environment, paths, otherDriver, model)).toMatchObject({ outdated: 'driver' });
    const otherTorch = { ...environment, packages: { ...environment.packages, torch: '9.9' } };
    expect(await lastAnswers(otherTorch, paths, probe, model)).toMatchObject({ outdated: 'pytorch' });
    const otherWeights = { ...model, hash: 'f'.repeat(64) };
    expect(await lastAnswers(environment, paths, probe, otherWeights)).toMatchObject({ outdated: 'model' });
  });

  it('names a device whose process ends abnormally', async () => {
    const { environment, paths: usual } = testContext();
    const paths = { ...usual, dataDir: await temporaryFolder() };
    const probe = { ...unwrap(await probeDevices(environment)), gpus: [] };
    const { planModel: model } = unwrap(await resolveModel('teaching', paths));
    const run: CommandRunner = () =>
      Promise.resolve({ ending: 'failed', stdout: '', stderr: 'Killed', summary: '' } as never);
    const answers = unwrap(await checkAnswers(environment, paths, probe, model, { run }));
    expect(answers.devices[0]?.precisions[0]).toMatchObject({
      normDifference: null,
      problem: expect.stringContaining('Killed') as string,
    });
  });
});
