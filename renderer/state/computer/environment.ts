import { create } from 'zustand';
import type { EnvironmentStatus } from '../../../electron/contract/index.ts';
import { engine } from '../connection.ts';
import { go, goToRun } from '../navigation.ts';

interface EnvironmentState {
  /** Whether the program can compute; null until the engine has answered. */
  readonly status: EnvironmentStatus | null;
  /** The example was asked for before it could run: it begins as soon as it can. */
  readonly exampleWanted: boolean;
}

export const useEnvironment = create<EnvironmentState>(() => ({ status: null, exampleWanted: false }));

/** Known to lack something: whatever needs Python says nothing of its own then, since one place says it for all. */
export const lacksEnvironment = (status: EnvironmentStatus | null) =>
  status !== null && status.state !== 'ready' && status.state !== 'checking';

export const setUp = () => engine.computer.setUpPython();

export const installRay = () => engine.computer.installRay();

/** Sets up and shows how far it is. */
export async function setUpAndShow(): Promise<void> {
  go({ screen: 'start' });
  await setUp();
}

/** Runs the example. On a fresh computer, Python is set up for it first. */
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
