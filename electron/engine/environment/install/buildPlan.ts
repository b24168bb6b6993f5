import type { GpuKind } from '../../../contract/rpc/computer.ts';
import type { TorchChoice } from './choosePyTorch.ts';
import type { EnvironmentRequest, EnvironmentState } from '../environmentState.ts';
import type { Machine } from '../machine/machine.ts';
import type { CommandRunner } from '../runCommand.ts';

export interface Build {
  readonly request: EnvironmentRequest;
  readonly run: CommandRunner;
  readonly enter: (state: EnvironmentState) => void;
}

/** What a build has found out before it begins. */
export interface Plan extends Build {
  readonly machine: Machine;
  readonly torch: TorchChoice;
  /** For other computers than this one; null for this one. */
  readonly gpu: GpuKind | null;
  /** Undefined where there is none: then a system Python's own tools make the environment. */
  readonly uv: string | undefined;
}
