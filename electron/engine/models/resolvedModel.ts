import type { PlanModel } from '../../contract/plan.ts';
import type { CpuMemory } from '../devices/selectDevices.ts';

/** A model that is present and whole, ready to be put into a plan. */
export interface ResolvedModel {
  readonly planModel: PlanModel;
  readonly chunkLength: number;
  readonly cpuMemory: CpuMemory;
}
