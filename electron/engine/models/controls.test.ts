import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { unwrap } from '../../contract/errors.ts';
import { lastControls, panelOf, runControls } from '../devices/check/controls.ts';
import { selectDevices } from '../devices/selectDevices.ts';
import { probeDevices } from '../devices/probeDevices.ts';
import { RANDOM_MODEL, temporaryFolder, testContext, WITHOUT_PYTHON } from '../testing/testContext.ts';
import { resolveModel } from './resolveModel.ts';

it.skipIf(WITHOUT_PYTHON)(
  'distinguishes a trained model from a random one, and stores its results',
  async () => {
    const { environment, paths: usual } = testContext();
    const paths = { ...usual, dataDir: await temporaryFolder() };
    const probe = { ...unwrap(await probeDevices(environment)), gpus: [] };
    const model = unwrap(await resolveModel('teaching', paths));
    const { planModel: teaching } = model;
    const { planModel: random } = unwrap(await resolveModel(RANDOM_MODEL, paths));

    const devices = unwrap(selectDevices('cpu:1', probe, model));
    const found = unwrap(await runControls(environment, paths, devices, teaching, { driver: null }));
    expect(found).toMatchObject([{ kind: 'cpu', verdict: 'works', panel: { quick: false } }]);
    expect(found[0]?.groups.map(({ group, sequences }) => [group, sequences])).toEqual([
      ['viral', 100],
      ['host', 100],
      ['crassphage', 20],
      ['shuffled', 40],
    ]);
    const quick = { quick: true, driver: null };
    const [meaningless] = unwrap(await runControls(environment, paths, devices, random, quick));
    expect(['chance', 'inverted', 'weak']).toContain(meaningless?.verdict);

    const here = { environment, paths };
    expect(await lastControls(here, null, teaching.hash)).toEqual([{ ...found[0], outdated: null }]);
    expect(await lastControls(here, null, random.hash)).toEqual([{ ...meaningless, outdated: null }]);
    expect(await lastControls(here, null, '0'.repeat(64))).toEqual([]);

    const outdated = async (now: typeof here, driver: string | null) =>
      (await lastControls(now, driver, teaching.hash))[0]?.outdated;
    // A processor has no driver.
    expect(await outdated(here, '999.1')).toBeNull();
    const torch = { ...environment, packages: { torch: '99.0' } };
    expect(await outdated({ environment: torch, paths }, null)).toBe('pytorch');
    const resources = await temporaryFolder();
    await mkdir(join(resources, 'controls'));
    await writeFile(join(resources, 'controls', '500.fa'), '>viral_001\nACGT\n');
    expect(await outdated({ environment, paths: { ...paths, resources } }, null)).toBe('panel');
  },
);

/** Codons of the six reading frames, each as one string. */
function framesOf(sequence: string): string[][] {
  const pairs: Record<string, string> = { A: 'T', C: 'G', G: 'C', T: 'A' };
  const other = Array.from(sequence)
    .reverse()
    .map((base) => pairs[base] ?? base);
  return [sequence, other.join('')].flatMap((strand) =>
    [0, 1, 2].map((begin) => strand.slice(begin).match(/.{3}/g) ?? []),
  );
}

it.each([300, 500])('knows the amount of work in the panel for chunks of %i', async (length) => {
  const { paths } = testContext();
  const text = await readFile(join(paths.resources, 'controls', `${length}.fa`), 'utf8');
  const sequences = text
    .split('>')
    .slice(1)
    .map((record) => record.split('\n').slice(1).join(''));
  const open = sequences
    .flatMap(framesOf)
    .filter((codons) => !codons.some((codon) => ['TAA', 'TAG', 'TGA'].includes(codon)));
  expect(panelOf(length)).toEqual({
    chunks: sequences.length,
    frames: open.length,
    residues: open.flat().length,
  });
});
