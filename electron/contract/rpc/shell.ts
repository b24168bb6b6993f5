import { z } from 'zod';
import { LIMITS, pathSchema } from '../limits.ts';
import { procedure } from './procedure.ts';

/** What only a desktop shell can do. In browser mode each answers with a plain refusal. */
export const shellContract = {
  chooseFiles: procedure.output(z.object({ paths: z.array(z.string()) })),
  chooseFolder: procedure
    .input(z.object({ purpose: z.enum(['inputs', 'output', 'run']) }))
    .output(z.object({ path: z.string().nullable() })),
  chooseSaveFile: procedure
    .input(z.object({ suggestedName: pathSchema }))
    .output(z.object({ path: z.string().nullable() })),
  /** Tells main which dropped paths the user gave, so that they may be read. */
  grantPaths: procedure.input(z.object({ paths: z.array(pathSchema).max(LIMITS.inputs) })),
  revealInFolder: procedure.input(z.object({ path: pathSchema })),
  copyText: procedure.input(z.object({ text: z.string().max(LIMITS.text) })),
  openExternal: procedure.input(
    z.object({
      url: z
        .string()
        .max(LIMITS.url)
        .pipe(z.url({ protocol: /^https$/ })),
    }),
  ),
};
