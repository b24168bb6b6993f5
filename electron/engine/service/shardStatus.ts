import { appError, type AppError } from '../../contract/errors.ts';
import type { ShardFailureCode } from '../../contract/protocol/index.ts';
import type { ShardStatus } from '../../contract/rpc/runs.ts';
import type { ShardPage } from '../store/shardPages.ts';

interface FailureWords {
  stage: string;
  cause: string;
  nextStep: string;
}

const AGAIN = 'Retry it. If it fails again, its sequences are listed by name.';

const FAILURES: Record<ShardFailureCode, FailureWords> = {
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
  norm_out_of_band: {
    stage: 'Embedding',
    cause: 'Many embeddings were outside of what the model gives otherwise.',
    nextStep: 'Check the weights in the computer check, then retry.',
  },
  shard_unreadable: {
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
export function shardStatuses(page: ShardPage): { total: number; items: ShardStatus[] } {
  return {
    total: page.total,
    items: page.items.map((shard) => ({
      key: shard.key,
      state: shard.state,
      firstRow: shard.firstRow,
      lastRow: shard.lastRow,
      frames: shard.frames,
      residues: shard.residues,
      device: shard.device,
      seconds: shard.seconds,
      attempts: shard.attempts,
      failure: shard.failure && {
        stage: FAILURES[shard.failure.code].stage,
        error: describeFailure(shard.failure),
      },
      logPath: shard.log,
    })),
  };
}

function describeFailure({ code, message }: { code: ShardFailureCode; message: string }): AppError {
  const { cause, nextStep } = FAILURES[code];
  return appError('shard_failed', cause, { nextStep, detail: message });
}
