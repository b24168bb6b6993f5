import type { StepProgress } from '../../contract/rpc/index.ts';
import type { EnvironmentState } from './environmentState.ts';
import { INSTALL_STEP_COUNT, type RequirementSet } from './requirements.ts';

/** Before the installer's steps come check and create; after them, verify. */
const BEFORE = 2;
const AFTER = 1;

/** A state in words, for a window or a terminal. */
export function stepProgress(state: EnvironmentState, set: RequirementSet = 'run'): StepProgress {
  const stepCount = BEFORE + INSTALL_STEP_COUNT[set] + AFTER;
  const at = (stepNumber: number, step: string, line = '', fraction: number | null = null): StepProgress => ({
    step,
    stepNumber,
    stepCount,
    fraction,
    line,
    finished: false,
    error: null,
  });
  switch (state.state) {
    case 'checking':
      return at(1, 'Checking the Python environment');
    case 'waiting':
      return at(1, 'Another window is setting up the Python environment', `waiting for ${state.seconds} s`);
    case 'creating':
      return at(BEFORE, 'Making a Python environment', `with ${state.basePython}`);
    case 'installing':
      return at(BEFORE + state.step, `Installing ${state.title}`, state.line, state.fraction);
    case 'verifying':
      return at(stepCount, 'Checking that every package works');
    case 'ready':
      return { ...at(stepCount, `Python ${state.environment.pythonVersion} is ready`), finished: true };
    case 'failed':
      return { ...at(stepCount, state.error.title), finished: true, error: state.error };
  }
}
