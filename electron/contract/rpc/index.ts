import { computerContract } from './computer.ts';
import { computersContract } from './computers.ts';
import { resultsContract } from './results.ts';
import { runsContract } from './runs.ts';
import { shellContract } from './shell.ts';

/** Every call between a window and the engine. */
export const contract = {
  runs: runsContract,
  results: resultsContract,
  computer: computerContract,
  computers: computersContract,
  shell: shellContract,
};

export * from './computer.ts';
export * from './computers.ts';
export * from './results.ts';
export * from './runs.ts';
export * from './shell.ts';
