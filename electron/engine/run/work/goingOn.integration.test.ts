import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { Place, PrepareCommand } from '../../../contract/protocol/index.ts';
import { hashFile } from '../../files/hashFile.ts';
import { openRunStore } from '../../store/runStore.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import { HOST_ENTRY } from '../../store/testing/storeFixture.ts';
import { DESCRIPTION, syntheticPlan } from '../../store/testing/syntheticRun.ts';
import { temporaryFolder, testContext, WITHOUT_PYTHON } from '../../testing/testContext.ts';
import { makeWorkFolders } from '../../store/runFolder.ts';
import { RunNotes } from '../runNotes.ts';
import { backendLaunch, NO_GPU } from './backendLaunch.ts';
import { PrepareStage } from './prepareStage.ts';
import { ReadingPlace } from './readingPlace.ts';

/** More than two files of records hold. */
const READS = 300_000;
const VERSION = '1.0';

function reads(): string {
  const letters = 'ACGGTTCAGC';
  return Array.from({ length: READS }, (_, i) => {
    const at = (i * 7) % 10;
    return `>read_${i % 200_000}\n${letters.slice(at)}${letters.slice(0, at)}\n`;
  }).join('');
}

async function newRun(path: string): Promise<RunStore> {
  const folder = await temporaryFolder();
  mkdirSync(join(folder, 'run'));
  makeWorkFolders(join(folder, 'run'));
  const plan = syntheticPlan(1);
  const sha256 = await hashFile(path);
  const inputs = plan.inputs.map((input) => ({ ...input, path, sha256 }));
  const create = { plan: { ...plan, inputs }, description: DESCRIPTION };
  return openRunStore(join(folder, 'run'), { hostEntry: HOST_ENTRY, create });
}

/** Reads to the end, or until so many places have been reached. */
async function read(
  store: RunStore,
  path: string,
  mostPlaces = Infinity,
): Promise<{ goneOn: PrepareCommand['go_on_from']; registered: string[] }> {
  const context = testContext();
  const run = await store.loadRun();
  const inputs = run.plan.inputs.map(({ sha256 }, input) => ({ input, path, sha256 }));
  const reading = await ReadingPlace.open(store, VERSION, run);
  const goneOn = await reading.goOnFrom(inputs);
  if (goneOn === null) await reading.begin(inputs);
  const registered: string[] = [];
  await new Promise<void>((resolve, reject) => {
    let places = 0;
    const watched = {
      forget: () => reading.forget(),
      reached: (place: Place) => {
        reading.reached(place);
        places += 1;
        if (places === mostPlaces) void stage.stop().then(resolve);
      },
    };
    const stage = new PrepareStage(
      backendLaunch(context, 'prepare', [], NO_GPU),
      join(store.folder, 'logs', 'prepare.log'),
      {
        type: 'prepare',
        inputs,
        work_dir: join(store.folder, 'work'),
        chunk_length: 500,
        residues_per_part: 20_000,
        tail_parts: 8,
        go_on_from: goneOn,
      },
      store,
      watched,
      new RunNotes(store, () => undefined),
      (event) => {
        if (event.type === 'part_prepared') registered.push(event.registered);
        if (event.type === 'prepared') resolve();
        if (event.type === 'prepare_failed') reject(new Error(JSON.stringify(event.error)));
      },
      true,
    );
  });
  return { goneOn, registered };
}

async function stored(store: RunStore) {
  const { prepared, inputs, problems } = await store.loadRun();
  const { recordFiles } = await store.readBefore({ parts: 0, records_row: READS });
  return { prepared, inputs, problems, recordFiles, parts: await store.pendingParts() };
}

it.skipIf(WITHOUT_PYTHON).each(['plain', 'gzip'])(
  'reads on from the last place after each stop, to the same records and parts (%s)',
  async (kind) => {
    const path = join(await temporaryFolder(), 'reads.fa');
    writeFileSync(path, kind === 'plain' ? reads() : gzipSync(reads(), { level: 1 }));
    const [undisturbed, disturbed] = [await newRun(path), await newRun(path)];
    try {
      expect((await read(undisturbed, path)).goneOn).toBeNull();
      expect((await read(disturbed, path, 1)).goneOn).toBeNull();
      const second = await read(disturbed, path, 1);
      expect(second.goneOn?.place.records_row).toBe(131_072);
      const third = await read(disturbed, path);
      expect(third.goneOn?.place.records_row).toBe(262_144);
      // Nothing of what was stored has been replaced.
      expect([...second.registered, ...third.registered]).not.toContain('replaced');
      const [one, other] = [await stored(undisturbed), await stored(disturbed)];
      expect(other).toEqual(one);
      expect(one.problems).toMatchObject([{ code: 'duplicate_ids', count: 100_000 }]);
      expect(one.parts.length).toBeGreaterThan(100);
    } finally {
      await undisturbed.close();
      await disturbed.close();
    }
  },
);
