export * from './modelFolder.ts';
export * from './resolvedModel.ts';
export * from './resolveModel.ts';
export * from './weights.ts';
export * from './weightsFolder.ts';
