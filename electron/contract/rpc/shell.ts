import { z } from 'zod';
import { blastSearchSchema } from '../exports.ts';
import { LIMITS, pathSchema } from '../limits.ts';
import { procedure } from './procedure.ts';

const filePurposeSchema = z.enum(['sequences', 'weights', 'tables', 'certificate', 'interpreter']);
export type FilePurpose = z.infer<typeof filePurposeSchema>;

/** `offline`: a folder that was packed for an offline set-up; `pack`: where to pack one. */
const folderPurposeSchema = z.enum(['inputs', 'output', 'run', 'weights', 'offline', 'pack', 'data']);
export type FolderPurpose = z.infer<typeof folderPurposeSchema>;

/** What only a desktop shell can do. In browser mode every call is refused. */
export const shellContract = {
  chooseFiles: procedure
    .input(z.object({ purpose: filePurposeSchema }))
    .output(z.object({ paths: z.array(z.string()) })),
  chooseFolder: procedure
    .input(z.object({ purpose: folderPurposeSchema }))
    .output(z.object({ path: z.string().nullable() })),
  chooseSaveFile: procedure
    .input(z.object({ suggestedName: pathSchema }))
    .output(z.object({ path: z.string().nullable() })),
  /** Tells main which dropped paths came from the user, so that they may be read. */
  grantPaths: procedure.input(z.object({ paths: z.array(pathSchema).max(LIMITS.inputs) })),
  revealInFolder: procedure.input(z.object({ path: pathSchema })),
  /** Opens a file that was exported since the program started; nothing else, as a page could name any program. */
  openExport: procedure.input(z.object({ path: pathSchema })),
  /**
   * Quits the program as a user would, and starts it again. Does nothing if the user then decides to stay.
   */
  restart: procedure,
  copyText: procedure.input(z.object({ text: z.string().max(LIMITS.text) })),
  /**
   * Opens NCBI's BLAST in the browser with a sequence filled in. The sequence leaves the computer, so the
   * user is asked first.
   */
  searchBlast: procedure.input(blastSearchSchema),
};
