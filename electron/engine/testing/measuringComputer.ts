import { cpus, release, totalmem, type } from 'node:os';

/** Describes the computer on which a benchmark was measured, for its results. */
export function measuringComputer() {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
    node: process.version,
  };
}
