export * from './chosenDevice.ts';
export * from './choosePrecision.ts';
export * from './probeDevices.ts';
export * from './selectDevices.ts';
