import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { unwrap } from '../../../contract/errors.ts';
import { inspectedFileSchema } from '../../../contract/protocol/index.ts';
import { lastResults, runCheck } from '../../devices/check/check.ts';
import { panelOf } from './checks.ts';
import { selectDevices } from '../../devices/selectDevices.ts';
import { probeDevices } from '../../devices/probeDevices.ts';
import { RANDOM_MODEL, temporaryFolder, testContext, WITHOUT_PYTHON } from '../../testing/testContext.ts';
import { resolveModel } from '../../models/resolveModel.ts';

it.skipIf(WITHOUT_PYTHON)(
  'distinguishes a trained model from a random one, and stores its results',
  async () => {
    const { environment, paths: usual } = testContext();
    const paths = { ...usual, dataDir: temporaryFolder() };
    const probe = { ...unwrap(await probeDevices(environment)), gpus: [] };
    const model = unwrap(await resolveModel('teaching', paths));
    const { planModel: teaching } = model;
    const { planModel: random } = unwrap(await resolveModel(RANDOM_MODEL, paths));

    const here = { environment, paths };
    const check = {
      check: 'controls',
      driver: null,
      devices: unwrap(selectDevices('cpu:1', probe, model)),
    } as const;
    const [found] = unwrap(await runCheck(here, { ...check, model: teaching }));
    expect(found).toMatchObject({
      device: { kind: 'cpu' },
      verdict: 'works',
      figures: { panel: { quick: false } },
    });
    expect(
      found?.check === 'controls' && found.figures?.groups.map(({ group, sequences }) => [group, sequences]),
    ).toEqual([
      ['viral', 100],
      ['host', 100],
      ['crassphage', 20],
      ['shuffled', 40],
    ]);
    const [meaningless] = unwrap(await runCheck(here, { ...check, model: random, quick: true }));
    expect(meaningless?.verdict).toBe('weak');
    expect(await lastResults(here, null)).toEqual(
      [meaningless, found].map((one) => ({ ...one, outdated: null })),
    );

    const resources = temporaryFolder();
    await mkdir(join(resources, 'controls'));
    await writeFile(join(resources, 'controls', '500.fa'), '>viral_001\nACGT\n');
    const changed = await lastResults({ environment, paths: { ...paths, resources } }, null);
    expect(changed.map(({ outdated }) => outdated)).toEqual(['panel', 'panel']);
  },
);

it.skipIf(WITHOUT_PYTHON).each([300, 500])(
  'knows the amount of work in the panel for chunks of %i',
  async (length) => {
    const { environment, paths } = testContext();
    const file = join(paths.resources, 'controls', `${length}.fa`);
    const words = ['-m', 'virnucpro_backend.prepare.inspect', '--look', String(length), file];
    const { stdout } = await execa(environment.interpreter, words, {
      env: { PYTHONPATH: environment.source },
    });
    const { judged } = inspectedFileSchema.parse(JSON.parse(stdout));
    expect(judged[length]).toMatchObject(panelOf(length));
  },
);
