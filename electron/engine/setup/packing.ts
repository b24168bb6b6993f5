import type { PackOffline, StepProgress } from '../../contract/rpc/computer.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import type { PythonEnvironment } from '../environment/pythonLaunch.ts';
import type { CommandRunner } from '../environment/runCommand.ts';
import type { Download } from './fetchTools.ts';
import type { CountedSteps } from './countedSteps.ts';

export interface PackRequest extends PackOffline {
  readonly paths: AppPaths;
  /** Runs pip; need not be of the kind that is packed for. */
  readonly environment: PythonEnvironment;
  readonly appVersion: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (progress: StepProgress) => void;
}

/** A request with what it is carried out with. */
export interface Packing extends PackRequest {
  readonly work: string;
  readonly run: CommandRunner;
  readonly env: NodeJS.ProcessEnv;
  readonly uv: string;
  readonly download: Download;
  readonly steps: CountedSteps;
}
