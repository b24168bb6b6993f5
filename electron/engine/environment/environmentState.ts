import type { AppError } from '../../contract/errors.ts';
import type { AppPaths } from './appPaths.ts';
import type { PythonEnvironment } from './pythonLaunch.ts';
import type { RequirementSet } from './requirements.ts';

/** The way of an environment from whatever there is to one that can compute; ends in `ready` or `failed`. */
export type EnvironmentState =
  | { readonly state: 'checking' }
  /** Another process of this program is installing; it is waited for. */
  | { readonly state: 'waiting'; readonly seconds: number }
  | { readonly state: 'creating'; readonly basePython: string }
  | {
      readonly state: 'installing';
      readonly step: number;
      readonly stepCount: number;
      readonly title: string;
      /** What the installer is doing. */
      readonly line: string;
      /** Of the file that is being downloaded; null where nothing is known. */
      readonly fraction: number | null;
    }
  | { readonly state: 'verifying' }
  | { readonly state: 'ready'; readonly environment: PythonEnvironment }
  | { readonly state: 'failed'; readonly error: AppError };

export interface EnvironmentRequest {
  readonly paths: AppPaths;
  /** `--python` or VIRNUCPRO_PYTHON: used as it is, never installed into. */
  readonly interpreter?: string | undefined;
  /** `test` adds what the tests and linters need. */
  readonly requirements?: RequirementSet | undefined;
  /** Builds the environment anew even where it looks whole. */
  readonly repair?: boolean | undefined;
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
  readonly onState?: (state: EnvironmentState) => void;
}
