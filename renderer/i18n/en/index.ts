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

/** Every text of the window. The English catalogue decides which keys there are. */
export const en = {
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

export type MessageKey = keyof typeof en;
export type Messages = Record<MessageKey, string>;
