import { create } from 'zustand';
import type { EnvironmentStatus } from '../../../electron/contract/index.ts';
import { engine } from '../connection.ts';
import { go, goToRun } from '../navigation.ts';

interface EnvironmentState {
  /** Whether the program can compute; null until the engine has answered. */
  readonly status: EnvironmentStatus | null;
  /** The example was requested before it could run; it starts as soon as it can. */
  readonly exampleWanted: boolean;
}

export const useEnvironment = create<EnvironmentState>(() => ({ status: null, exampleWanted: false }));

/** True if Python is known to lack something: whatever needs it then reports nothing, since one place reports it for all. */
export const lacksEnvironment = (status: EnvironmentStatus | null) =>
  status !== null && status.state !== 'ready' && status.state !== 'checking';

export const setUp = () => engine.computer.setUpPython();

export async function setUpAndShow(): Promise<void> {
  go({ screen: 'start' });
  await setUp();
}

/** Runs the example. On a fresh computer, Python is set up first. */
export async function runExample({ show = true }: { show?: boolean } = {}): Promise<void> {
  const { status } = useEnvironment.getState();
  if (lacksEnvironment(status)) {
    useEnvironment.setState({ exampleWanted: true });
    if (useEnvironment.getState().status?.state === 'setting_up') go({ screen: 'start' });
    else await setUpAndShow();
    return;
  }
  useEnvironment.setState({ exampleWanted: false });
  const { runId } = await engine.runs.runExample();
  if (show) goToRun(runId);
}
