import { HERE } from '../system/here.ts';
import type { EnvironmentRequest } from './environmentState.ts';
import type { Inspection } from './inspectInterpreter.ts';

/** Interpreter of the environment that this program makes. */
export function ownInterpreter(folder: string): string {
  return HERE.interpreterIn(folder);
}

export function ownInspection(request: EnvironmentRequest, thorough: boolean): Inspection {
  return {
    interpreter: ownInterpreter(request.paths.environmentFolder),
    own: true,
    source: request.paths.pythonSource,
    env: request.env ?? process.env,
    thorough,
    signal: request.signal,
  };
}
