/**
 * Provides the Python environment with the tools for tests and checks: creates it if it is missing, and
 * prints the progress on the terminal.
 */
import { ensureEnvironment } from '../electron/engine/environment/ensureEnvironment.ts';
import {
  networkVariables,
  readSetupSettings,
  resolveAppPaths,
} from '../electron/engine/environment/appPaths.ts';
import { Steps, stepLines } from '../electron/engine/environment/steps.ts';
import type { PythonEnvironment } from '../electron/engine/environment/pythonLaunch.ts';

export async function testEnvironment(): Promise<PythonEnvironment> {
  const paths = resolveAppPaths();
  if (!paths.ok) return giveUp(paths.error);
  const steps = new Steps(stepLines((line) => process.stderr.write(`${line}\n`)));
  const environment = await ensureEnvironment({
    paths: paths.value,
    requirements: 'test',
    env: networkVariables(readSetupSettings(paths.value.usualDataDir)),
    steps,
  });
  steps.finish(environment.ok ? null : environment.error);
  return environment.ok ? environment.value : giveUp(environment.error);
}

function giveUp(error: {
  title: string;
  cause: string;
  nextStep: string;
  detail?: string | undefined;
}): never {
  process.stderr.write(`${error.detail ?? ''}\n${error.title}: ${error.cause} ${error.nextStep}\n`);
  process.exit(1);
}
