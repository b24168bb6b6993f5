import type { AppError } from '../../contract/errors.ts';
import type { Message } from '../../contract/messages.ts';
import type { GpuKind } from '../../contract/rpc/computer.ts';
import type { AppPaths } from './appPaths.ts';
import type { OfflineSource } from './install/offlineSource.ts';
import type { Machine } from './machine/machine.ts';
import type { PythonEnvironment } from './pythonLaunch.ts';

/** How far one step of an installation is. */
export interface InstallProgress {
  /** What the installer is doing, such as "Downloading torch-2.13.0 (526.6 MB)". */
  readonly line: string;
  /** Of the step, or with pip of the file that is being downloaded; null where nothing is known. */
  readonly fraction: number | null;
  readonly bytesDone: number;
  /** Null where it is not known how much will be fetched. */
  readonly bytesTotal: number | null;
}

/** The way of an environment from whatever there is to one that can compute; ends in `ready` or `failed`. */
export type EnvironmentState =
  | { readonly state: 'checking' }
  /** Another process of this program is installing; it is waited for. */
  | { readonly state: 'waiting'; readonly seconds: number }
  | {
      readonly state: 'creating';
      /** "Python 3.12.4 (/usr/bin/python3)", or the one that is fetched. */
      readonly basePython: string;
      /** Of the installation that follows. */
      readonly stepCount: number;
    }
  | ({
      readonly state: 'installing';
      readonly step: number;
      readonly stepCount: number;
      readonly title: Message;
    } & InstallProgress)
  | { readonly state: 'verifying' }
  | { readonly state: 'ready'; readonly environment: PythonEnvironment }
  | { readonly state: 'failed'; readonly error: AppError };

export interface EnvironmentRequest {
  readonly paths: AppPaths;
  /** `--python`, VIRNUCPRO_PYTHON or the setting: used as it is, never installed into. */
  readonly interpreter?: string | undefined;
  /** `test` adds what the tests and linters need. */
  readonly requirements?: 'run' | 'test' | undefined;
  /** Installs what Ray clusters need too. What was installed once is kept. */
  readonly withRay?: boolean | undefined;
  /** The GPUs that PyTorch is for, where the environment is for other computers too, such as a cluster's nodes; kept until `here`
   * goes back to those of this computer. */
  readonly gpu?: GpuKind | 'here' | undefined;
  /** In place of the network. */
  readonly offline?: OfflineSource | undefined;
  /** Rebuilds the environment even if it looks complete. */
  readonly repair?: boolean | undefined;
  /** What this computer is; found out where it is left out. */
  readonly machine?: Machine;
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
  readonly onState?: (state: EnvironmentState) => void;
}
