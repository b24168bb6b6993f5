import type { DeviceVerdict } from './checkDevices.ts';

/** What the devices computed for a test, in one sentence; `wrong` where some result is not right. */
export function describeVerdicts(devices: readonly DeviceVerdict[]): { wrong: boolean; sentence: string } {
  const problems = devices.flatMap(({ name, precisions }) =>
    precisions
      .filter(({ problem }) => problem !== null)
      .map(({ precision, problem }) => `${name} in ${precision.toUpperCase()}: ${problem ?? ''}`),
  );
  if (problems.length > 0) {
    return { wrong: true, sentence: `Leave out what computes wrongly. ${[...new Set(problems)].join(' ')}` };
  }
  const names = devices.map(
    ({ name, precisions }) =>
      `${name} (${precisions.map(({ precision }) => precision.toUpperCase()).join(', ')})`,
  );
  return {
    wrong: false,
    sentence: `${[...new Set(names)].join('; ')}: all results agree with the processor's in FP32.`,
  };
}
