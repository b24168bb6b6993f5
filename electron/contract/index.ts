export * from './errors.ts';
export * from './model.ts';
export * from './plan.ts';
export * from './protocol/index.ts';
export * from './result.ts';
export * from './results.ts';
export * from './rpc/index.ts';
export * from './runState.ts';
