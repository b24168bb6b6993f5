import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROTOCOL_VERSION } from '../../../contract/protocol/index.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import { REAL_PYTHON, temporaryFolder, WITHOUT_PYTHON } from '../../testing/testContext.ts';
import { RunNotes } from '../runNotes.ts';
import { PrepareStage } from './prepareStage.ts';
import type { PrepareStageEvent } from './workEvents.ts';

/** As a read from a network disk that is gone: alive, and without a word. */
const HANGING = `
import json, os, time
print(json.dumps(dict(type='hello', protocol=${PROTOCOL_VERSION}, role='prepare', pid=os.getpid(), backend_version='1', python_version='3')), flush=True)
time.sleep(600)
`;
/** As where it goes on from counts that no message may hold. */
const GARBAGE = `${HANGING.replace(/\ntime.*/s, '')}
print('{"type": "progress", "records": -1}', flush=True)
time.sleep(600)
`;

/** How a prepare that does this ends, and whether it is forgotten where it was to go on. */
async function howItEnds(program: string): Promise<{ ended: PrepareStageEvent; forgotten: boolean }> {
  const folder = await temporaryFolder();
  let forgotten = false;
  const ended = await new Promise<PrepareStageEvent>((emit) => {
    new PrepareStage(
      { file: REAL_PYTHON, args: ['-I', '-c', program], env: {} },
      join(folder, 'prepare.log'),
      {
        type: 'prepare',
        inputs: [{ input: 0, path: join(folder, 'reads.fa'), sha256: null }],
        work_dir: folder,
        chunk_length: 500,
        residues_per_part: 1000,
        tail_parts: 0,
        go_on_from: null,
      },
      // Neither has anything to do for a process that says nothing.
      {} as RunStore,
      { reached: () => undefined, forget: () => (forgotten = true) },
      new RunNotes({ folder } as RunStore, () => undefined),
      emit,
      false,
      500,
    );
  });
  return { ended, forgotten };
}

it.skipIf(WITHOUT_PYTHON)('ends with words where reading the inputs does not advance', async () => {
  expect((await howItEnds(HANGING)).ended).toMatchObject({
    type: 'prepare_failed',
    error: {
      code: 'prepare_failed',
      cause: expect.stringContaining('Reading the input has not advanced') as string,
    },
  });
});

it.skipIf(WITHOUT_PYTHON)(
  'reads from the beginning after prepare has gone on with what cannot be',
  async () => {
    expect(await howItEnds(GARBAGE)).toMatchObject({
      ended: { type: 'prepare_failed', error: { code: 'prepare_failed' } },
      forgotten: true,
    });
  },
);
