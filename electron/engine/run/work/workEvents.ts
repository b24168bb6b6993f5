import type { AppError } from '../../../contract/errors.ts';
import type { Message } from '../../../contract/messages.ts';
import type { PartDone, PartFailureCode, PrepareProgress } from '../../../contract/protocol/index.ts';
import type { WorkerState } from '../../../contract/rpc/runs.ts';
import type {
  AttemptOutcome,
  PartFailing,
  PartIntake,
  PartSplit,
  Registered,
  StoredPart,
} from '../../store/types.ts';
import type { DeviceWorkerEvent } from '../../workers/deviceWorker.ts';
import type { ClusterSharesEvent } from '../shares/clusterShares.ts';

/** Why a part was given up, or why its attempt ended. */
export interface PartFailure {
  code: PartFailureCode;
  message: string;
}

/**
 * Everything that can happen while a run is computed. Workers, the shares on a cluster, prepare, the store
 * and the user emit these events; the single function that decides what follows is `decideWork`.
 */
export type WorkEvent =
  DeviceWorkerEvent | ClusterSharesEvent | UserEvent | SessionEvent | PrepareStageEvent | StoreAnswer;

/** The user's requests during a run. */
export type UserEvent =
  /** Finish the current parts, then end. */
  | { type: 'drain' }
  | { type: 'exclude_device'; device: string }
  | { type: 'include_device'; device: string }
  /** Halves batches on every device from now on. */
  | { type: 'halve_batches' }
  /** Failed parts wait again. */
  | { type: 'parts_offered'; parts: readonly StoredPart[] }
  /** A waiting part was skipped. */
  | { type: 'part_withdrawn'; key: string };

type SessionEvent =
  | {
      type: 'started';
      /** All waiting parts. */
      parts: readonly StoredPart[];
      /** Keys of those whose work files are missing. */
      lost: readonly string[];
      /** Whether prepare has read all inputs completely. */
      prepared: boolean;
    }
  | { type: 'stop' }
  /** The worker's process has ended on request. */
  | { type: 'worker_stopped'; device: string };

export type PrepareStageEvent =
  | { type: 'prepare_progress'; progress: PrepareProgress }
  | { type: 'part_prepared'; key: string; registered: Registered }
  | { type: 'prepared' }
  /** One of the inputs can't be used: the others are read again without it. */
  | { type: 'input_left_out'; input: number }
  | { type: 'prepare_failed'; error: AppError };

/** The store's answer to a `StoreEffect`. */
export type StoreAnswer =
  | { type: 'attempt_ended'; key: string; outcome: AttemptOutcome; failure: PartFailure | null }
  | { type: 'scores_stored'; key: string; intake: PartIntake }
  | {
      type: 'part_split';
      key: string;
      split: PartSplit;
      children: readonly StoredPart[];
      failure: PartFailure;
    }
  | { type: 'part_given_up'; key: string; failing: PartFailing; failure: PartFailure }
  | { type: 'part_read'; parts: readonly StoredPart[] }
  | { type: 'prepare_invalidated' }
  | { type: 'store_failed'; error: AppError };

/** The effects that `decideWork` asks for. */
export type WorkEffect = WorkerEffect | StoreEffect | RecordEffect | WorkOutcome;

type WorkerEffect =
  | { type: 'start_monitor' }
  | { type: 'start_prepare' }
  /** The parts are prepared, so a cluster computes them. */
  | { type: 'start_shares' }
  | { type: 'start_worker'; device: string }
  | { type: 'stop_worker'; device: string }
  | { type: 'halve_batches'; devices: readonly string[] }
  | { type: 'assign'; device: string; part: StoredPart }
  | { type: 'recall'; device: string; key: string };

/** Each is answered by one `StoreAnswer`. */
export type StoreEffect =
  | { type: 'end_attempt'; key: string; outcome: AttemptOutcome; failure: PartFailure | null }
  | { type: 'store_scores'; done: PartDone }
  | { type: 'split_part'; key: string; failure: PartFailure }
  | { type: 'give_up_part'; key: string; failure: PartFailure }
  | { type: 'read_part'; key: string }
  | { type: 'invalidate_prepare' };

/** For the window, the command line and the run's log. */
type RecordEffect =
  | { type: 'show_worker'; device: string; state: WorkerState }
  | { type: 'record_switched_off'; device: string; error: AppError | null }
  | { type: 'note'; level: 'info' | 'warning' | 'error'; code: string; message: Message; detail?: string };

/** Why the work session ends by itself. At most one per session. */
export type WorkOutcome =
  /** All parts are done, failed or skipped. */
  | { type: 'settled' }
  /** The inputs are read, and nothing else was requested. */
  | { type: 'prepared' }
  /** After `drain`: no part is being computed any more, but some still wait. */
  | { type: 'drained' }
  /** The run can't continue: the disk is full, or no device is left. */
  | { type: 'halt'; error: AppError };
