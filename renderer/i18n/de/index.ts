import type { Messages } from '../en/index.ts';
import { cluster } from './cluster.ts';
import { common } from './common.ts';
import { computer } from './computer.ts';
import { computers } from './computers.ts';
import { engine } from './engine.ts';
import { firstSteps } from './firstSteps.ts';
import { history } from './history.ts';
import { models } from './models.ts';
import { newRun } from './newRun.ts';
import { offline } from './offline.ts';
import { results } from './results.ts';
import { run } from './run.ts';

export const de: Messages = {
  ...common,
  ...cluster,
  ...newRun,
  ...run,
  ...results,
  ...history,
  ...computer,
  ...computers,
  ...engine,
  ...models,
  ...firstSteps,
  ...offline,
};
