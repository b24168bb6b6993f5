import type { PlanModel } from '../../contract/plan.ts';

/** A model that is present and whole, ready to be put into a plan. */
export interface ResolvedModel {
  readonly planModel: PlanModel;
  readonly chunkLength: number;
  /** Main memory that a CPU worker holding it needs, in bytes. */
  readonly cpuWorkerMemoryBytes: number;
}
