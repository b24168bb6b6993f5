export * from './blockedGpu.ts';
export * from './checkDevices.ts';
export * from './chosenDevice.ts';
export * from './choosePrecision.ts';
export * from './describeGpu.ts';
export * from './probeDevices.ts';
export * from './selectDevices.ts';
