import { z } from 'zod';
import { parseJson } from '../../../electron/contract/parseJson.ts';
import { repairSchema, sampleDetailsSchema, sheetRowSchema } from '../../../electron/contract/index.ts';
import { chosenComputer, connectionStore } from '../connection.ts';
import { store, stored } from '../storage.ts';
import { addPaths, choose, useNewRun } from './store.ts';

/** What is worth keeping when a page is reloaded: the files, and what was typed or decided about them. */
const draftSchema = z.object({
  paths: z.array(z.string()).min(1),
  choices: z.object({
    name: z.string(),
    samples: z.record(z.string(), z.string()),
    details: z.record(z.string(), sampleDetailsSchema),
    sheet: z.object({ name: z.string(), rows: z.array(sheetRowSchema) }).nullable(),
    repairs: z.array(repairSchema),
    minLength: z.number().nullable().default(null),
    model: z.string().nullable(),
    outputDir: z.string().nullable(),
  }),
});

/** One key per engine: paths of one computer mean nothing on another. */
const KEY = `virnucpro.newRun.${chosenComputer ?? 'here'}`;

/** Restores the files of a reloaded page, and keeps those of this one until the tab is closed. */
export function keepDraft(): () => void {
  let leave = connectionStore.subscribe(begin);
  begin();
  return () => leave();

  function begin(): void {
    if (connectionStore.getState().status !== 'connected') return;
    leave();
    takeUp();
    leave = keep();
  }
}

function takeUp(): void {
  const draft = parseJson(draftSchema, stored(KEY, 'sessionStorage') ?? undefined);
  if (draft && useNewRun.getState().files.length === 0) {
    choose(draft.choices);
    void addPaths(draft.paths);
  }
}

function keep(): () => void {
  return useNewRun.subscribe((state, before) => {
    if (state.files === before.files && state.choices === before.choices) return;
    const { name, samples, details, sheet, repairs, minLength, model, outputDir } = state.choices;
    const paths = state.files.map(({ path }) => path);
    const choices = { name, samples, details, sheet, repairs, minLength, model, outputDir };
    store(KEY, paths.length === 0 ? null : JSON.stringify({ paths, choices }), 'sessionStorage');
  });
}
