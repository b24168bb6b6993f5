export * from './appPaths.ts';
export * from './checkEnvironment.ts';
export * from './ensureEnvironment.ts';
export * from './environmentState.ts';
export * from './pythonLaunch.ts';
export * from './setupSettings.ts';
export * from './stateLines.ts';
export * from './stepProgress.ts';
