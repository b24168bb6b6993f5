import { cpus, release, totalmem, type } from 'node:os';

/** For the results of a benchmark: what they were measured on. */
export function measuringComputer() {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
    node: process.version,
  };
}
