import { QueryObserver } from '@tanstack/react-query';
import { hideErrors, sayError } from '../say.ts';
import { queries } from '../connection.ts';
import { lacksEnvironment, runExample, useEnvironment } from './environment.ts';
import { lookAgain } from '../newRun/store.ts';
import { askAgain, queryClient } from '../queryClient.ts';

/** Follows the state of the engine's Python environment on every screen. */
export function followEnvironment(): () => void {
  const observer = new QueryObserver(queryClient, queries.computer.environment.experimental_liveOptions());
  return observer.subscribe(({ data }) => {
    if (data === undefined) return;
    const before = useEnvironment.getState().status;
    useEnvironment.setState({ status: data });
    if (data.state === 'ready' && lacksEnvironment(before)) becameReady();
  });
}

/** Once Python is ready, every query that failed without it is repeated, on every screen. */
function becameReady(): void {
  hideErrors((code) => code.startsWith('python_') || code.startsWith('network_'));
  for (const needing of [
    queries.computer.devices,
    queries.computer.models,
    queries.computer.check,
    queries.runs.estimate,
  ]) {
    askAgain(needing.key());
  }
  void lookAgain();
  if (useEnvironment.getState().exampleWanted) runExample({ show: false }).catch(sayError);
}
