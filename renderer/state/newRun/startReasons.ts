import type { ModelStatus, RunEstimate } from '../../../electron/contract/index.ts';
import type { ShownError } from '../../api/callError.ts';
import type { ConnectionState } from '../connection.ts';
import { type ListedFile, verdictOf } from './inspection.ts';

/** Why the Start button cannot be pressed. The first reason in the list is the one to deal with first. */
export type StartReason =
  | { readonly code: 'not_connected' }
  | { readonly code: 'not_set_up' }
  | { readonly code: 'no_files' }
  | { readonly code: 'uploading' }
  | { readonly code: 'looking'; readonly count: number }
  | { readonly code: 'blocked_files'; readonly count: number }
  | { readonly code: 'sheet' }
  | { readonly code: 'models_unknown' }
  | { readonly code: 'no_model' }
  | { readonly code: 'model_missing'; readonly model: string }
  | { readonly code: 'model_damaged'; readonly model: string }
  | { readonly code: 'no_device' }
  | { readonly code: 'folder' }
  | { readonly code: 'engine'; readonly error: NonNullable<RunEstimate['blocker']> };

interface StartState {
  readonly connection: ConnectionState['status'];
  readonly files: readonly ListedFile[];
  readonly uploads: number;
  /** A sample sheet was added that cannot be used as it is. */
  readonly sheetHasFault: boolean;
  /** Files are being looked into. */
  readonly looking: boolean;
  /** Python is known to be missing or broken. */
  readonly lacksEnvironment: boolean;
  readonly modelsKnown: boolean;
  /** Null if none is chosen. */
  readonly model: ModelStatus | null;
  /** The number of selected GPUs; null if this computer has none and the processor computes. */
  readonly chosenGpus: number | null;
  readonly estimate: RunEstimate | null;
  /** Shown at the field of the folder. */
  readonly folderError: ShownError | null;
}

export function startReasons(state: StartState): StartReason[] {
  const reasons: StartReason[] = [];
  if (state.connection !== 'connected') reasons.push({ code: 'not_connected' });
  // Everything else depends on it.
  else if (state.lacksEnvironment) return [{ code: 'not_set_up' }];
  if (state.uploads > 0) reasons.push({ code: 'uploading' });
  else if (state.files.length === 0 && !state.looking) reasons.push({ code: 'no_files' });

  const unseen = state.files.filter((file) => verdictOf(file) === 'looking').length;
  if (unseen > 0 || state.looking) reasons.push({ code: 'looking', count: unseen });
  const blocked = state.files.filter((file) => verdictOf(file) === 'blocked').length;
  // The run can go on without some unusable files, but not without any file.
  if (blocked > 0 && blocked === state.files.length) reasons.push({ code: 'blocked_files', count: blocked });
  if (state.sheetHasFault) reasons.push({ code: 'sheet' });

  if (!state.model) reasons.push({ code: state.modelsKnown ? 'no_model' : 'models_unknown' });
  else if (state.model.problem) reasons.push({ code: 'model_damaged', model: state.model.title });
  else if (!state.model.present) reasons.push({ code: 'model_missing', model: state.model.title });
  if (state.chosenGpus === 0) reasons.push({ code: 'no_device' });
  // The engine's own objection comes last: most often it only repeats one of the reasons above.
  if (state.folderError) reasons.push({ code: 'folder' });
  if (reasons.length === 0 && state.estimate?.blocker)
    reasons.push({ code: 'engine', error: state.estimate.blocker });
  return reasons;
}
