import { appError, type AppError } from '../../../contract/errors.ts';
import type { PartFailureCode } from '../../../contract/protocol/index.ts';
import type { PartStatus } from '../../../contract/rpc/runs.ts';
import type { PartPage } from '../../store/sqlite/parts/partPages.ts';

interface FailureWords {
  stage: string;
  cause: string;
  nextStep: string;
}

const AGAIN = 'Retry it. If it fails again, its sequences are listed by name.';

const FAILURES: Record<PartFailureCode, FailureWords> = {
  out_of_memory: {
    stage: 'Embedding',
    cause: 'The device had too little memory even for the smallest batch.',
    nextStep: 'Close other programs that use the GPU, then retry with smaller batches.',
  },
  non_finite: {
    stage: 'Embedding',
    cause: 'The model gave results that are no numbers, also when computed again in full precision.',
    nextStep: 'Retry it on another device. If it fails again, check the weights in the computer check.',
  },
  part_unreadable: {
    stage: 'Reading',
    cause: 'The work file of this part is missing or damaged.',
    nextStep: 'Retry it: the part is made again from the input file.',
  },
  write_failed: {
    stage: 'Writing',
    cause: 'The scores could not be written to the results folder.',
    nextStep: 'Check that you may write there and that the disk is connected, then retry.',
  },
  disk_full: {
    stage: 'Writing',
    cause: 'The disk of the results folder was full.',
    nextStep: 'Free some space on this disk, then retry.',
  },
  device_lost: {
    stage: 'Embedding',
    cause: 'The GPU was lost while it computed this part.',
    nextStep: 'Restart the computer if the GPU stays away, then retry.',
  },
  internal_error: {
    stage: 'Embedding',
    cause: 'The worker stopped while it computed this part.',
    nextStep: AGAIN,
  },
  recalled: { stage: 'Dispatch', cause: 'The part was taken back before it was begun.', nextStep: AGAIN },
};

/** Parts as the window shows them. */
export function partStatuses(page: PartPage): { total: number; items: PartStatus[] } {
  return {
    total: page.total,
    items: page.items.map((part) => ({
      key: part.key,
      state: part.state,
      firstRow: part.firstRow,
      lastRow: part.lastRow,
      frames: part.frames,
      residues: part.residues,
      device: part.device,
      seconds: part.seconds,
      attempts: part.attempts,
      failure: part.failure && {
        stage: FAILURES[part.failure.code].stage,
        error: describeFailure(part.failure),
      },
      logPath: part.log,
    })),
  };
}

function describeFailure({ code, message }: { code: PartFailureCode; message: string }): AppError {
  const { cause, nextStep } = FAILURES[code];
  return appError('part_failed', cause, { nextStep, detail: message });
}
