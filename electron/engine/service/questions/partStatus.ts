import { appError, type AppError } from '../../../contract/errors.ts';
import { message, type Message } from '../../../contract/messages.ts';
import type { PartFailureCode } from '../../../contract/protocol/index.ts';
import type { FailedWhile, PartStatus } from '../../../contract/rpc/runs.ts';
import type { PartPage } from '../../store/sqlite/parts/partPages.ts';

const STAGES: Record<PartFailureCode, FailedWhile> = {
  out_of_memory: 'computing',
  non_finite: 'computing',
  part_unreadable: 'reading',
  write_failed: 'writing',
  disk_full: 'writing',
  device_lost: 'computing',
  internal_error: 'computing',
  recalled: 'waiting',
};

const NEXT_STEPS = {
  out_of_memory: message('part.out_of_memory.next'),
  non_finite: message('part.non_finite.next'),
  part_unreadable: message('part.part_unreadable.next'),
  write_failed: message('part.write_failed.next'),
  disk_full: message('part.disk_full.next'),
  device_lost: message('part.device_lost.next'),
  internal_error: message('part.again'),
  recalled: message('part.again'),
} satisfies Record<PartFailureCode, Message>;

/** Parts as the window shows them. */
export function partStatuses(page: PartPage): { total: number; items: PartStatus[] } {
  return {
    total: page.total,
    items: page.items.map((part) => ({
      key: part.key,
      state: part.state,
      firstRow: part.firstRow,
      lastRow: part.lastRow,
      firstName: part.firstName,
      lastName: part.lastName,
      files: part.files,
      frames: part.frames,
      residues: part.residues,
      device: part.device,
      seconds: part.seconds,
      attempts: part.attempts,
      failure: part.failure && {
        stage: STAGES[part.failure.code],
        error: describeFailure(part.failure),
      },
      logPath: part.log,
    })),
  };
}

function describeFailure({ code, message: detail }: { code: PartFailureCode; message: string }): AppError {
  return appError('part_failed', message(`part.${code}`), { nextStep: NEXT_STEPS[code], detail });
}
