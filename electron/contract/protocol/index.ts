export * from './common.ts';
export * from './devices.ts';
export * from './prepare.ts';
export * from './worker.ts';
