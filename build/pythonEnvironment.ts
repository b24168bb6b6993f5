/** The Python environment with the tools for tests and checks; created if needed, with progress on the terminal. */
import { ensureEnvironment } from '../electron/engine/environment/ensureEnvironment.ts';
import { networkVariables, readSetupSettings } from '../electron/engine/environment/setupSettings.ts';
import { resolveAppPaths } from '../electron/engine/environment/appPaths.ts';
import { stateLines } from '../electron/engine/environment/stateLines.ts';
import type { PythonEnvironment } from '../electron/engine/environment/pythonLaunch.ts';

export async function testEnvironment(): Promise<PythonEnvironment> {
  const paths = resolveAppPaths();
  if (!paths.ok) return giveUp(paths.error);
  const environment = await ensureEnvironment({
    paths: paths.value,
    requirements: 'test',
    env: networkVariables(readSetupSettings(paths.value.usualDataDir)),
    onState: stateLines((line) => process.stderr.write(`${line}\n`)),
  });
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
