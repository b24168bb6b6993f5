import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROTOCOL_VERSION } from '../../../contract/protocol/index.ts';
import type { RunStore } from '../../store/runStore.ts';
import { REAL_PYTHON, temporaryFolder, WITHOUT_PYTHON } from '../../testing/testContext.ts';
import { RunNotes } from '../runNotes.ts';
import { PrepareStage, type PrepareStageEvent } from './prepareStage.ts';

/** Hangs like a read from a network disk that is gone: alive, but without a message. */
const HANGING = `
import json, os, time
print(json.dumps(dict(type='hello', protocol=${PROTOCOL_VERSION}, role='prepare', pid=os.getpid(), backend_version='1', python_version='3')), flush=True)
time.sleep(600)
`;
/** The event with which a prepare running this program ends. */
async function howItEnds(program: string): Promise<PrepareStageEvent> {
  const folder = temporaryFolder();
  return new Promise<PrepareStageEvent>((emit) => {
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
        order_seed: null,
      },
      // Neither is used for a process that sends nothing.
      {} as RunStore,
      new RunNotes({ folder } as RunStore, () => undefined),
      emit,
      false,
      500,
    );
  });
}

it.skipIf(WITHOUT_PYTHON)('ends with a message if reading the inputs does not advance', async () => {
  expect(await howItEnds(HANGING)).toMatchObject({
    type: 'prepare_failed',
    error: {
      code: 'prepare_failed',
      cause: expect.stringContaining('Reading the input has not advanced') as string,
    },
  });
});
