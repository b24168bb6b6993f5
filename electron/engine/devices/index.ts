export * from './blockedGpu.ts';
export * from './chosenDevice.ts';
export * from './choosePrecision.ts';
export * from './gpuWords.ts';
export * from './probeDevices.ts';
export * from './selectDevices.ts';
