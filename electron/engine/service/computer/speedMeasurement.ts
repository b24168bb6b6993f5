import { message } from '../../../contract/messages.ts';
import { unwrap } from '../../../contract/result.ts';
import type { MeasuredSpeed } from '../../../contract/rpc/computer.ts';
import { benchmarkDevices, bestRow, keptBenchmark } from '../../devices/benchmarkDevices.ts';
import { probeDevices } from '../../devices/probeDevices.ts';
import type { PythonEnvironmentManager } from './pythonEnvironmentManager.ts';
import { StepJob } from './stepJob.ts';

/** For each device. */
const SECONDS = 60;

/** How fast this computer's devices are: what was measured last, and a measurement under way. */
export class SpeedMeasurement {
  private readonly pythonEnvironment: PythonEnvironmentManager;
  private job: StepJob | null = null;

  constructor(pythonEnvironment: PythonEnvironmentManager) {
    this.pythonEnvironment = pythonEnvironment;
  }

  async last(): Promise<MeasuredSpeed | null> {
    const { environment, paths } = await this.pythonEnvironment.context();
    const kept = await keptBenchmark(environment, paths);
    return (
      kept && {
        measuredAt: kept.measuredAt,
        devices: kept.devices.map((device) => {
          const row = bestRow(device);
          return {
            id: device.id,
            name: device.name,
            speed: row && {
              precision: row.precision,
              residuesPerSecond: row.esm2_residues_per_second,
              framesPerSecond: row.dnabert_s_frames_per_second,
              shareOfProducts: row.esm2_residues_per_second / row.products_residues_per_second,
            },
            problem: device.problem,
          };
        }),
        figures: JSON.stringify(kept.devices, null, 2),
      }
    );
  }

  measure(): StepJob {
    if (this.job) return this.job;
    const job = new StepJob(message('step.measuring_speed'), async (tell, signal) => {
      const { environment, paths } = await this.pythonEnvironment.context();
      const probe = unwrap(await probeDevices(environment));
      const onDevice = (step: string, stepNumber: number, stepCount: number) => {
        tell({ step, stepNumber, stepCount, fraction: null, line: '', finished: false, error: null });
      };
      await benchmarkDevices(environment, paths, probe, SECONDS, { onDevice, signal });
    });
    this.job = job;
    void job.ended.then(() => (this.job = null));
    return job;
  }

  /** Gives up what is under way, and waits for its end. */
  async stop(): Promise<void> {
    this.job?.cancel();
    await this.job?.ended;
  }
}
