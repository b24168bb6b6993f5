import { join } from 'node:path';
import {
  compareExample,
  createRun,
  type EngineContext,
  exampleRequest,
  OpenRun,
} from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { unwrap } from '../../../contract/result.ts';
import type { Reporter } from '../../output/reporter.ts';
import { followRun } from './followRun.ts';

/**
 * Runs the bundled example with the teaching model and compares its scores with those of a working
 * installation.
 */
export async function example(
  context: EngineContext,
  outputDir: string | undefined,
  reporter: Reporter,
): Promise<number> {
  const folder = outputDir ?? join(context.paths.dataDir, 'example');
  const created = unwrap(
    await createRun(context, {
      request: await exampleRequest(context.paths, folder),
      defaultParent: folder,
    }),
  );
  reporter.line('Running the bundled example with the teaching model ...');
  const exitCode = await followRun(context, unwrap(await OpenRun.open(context, created.folder)), reporter, {
    created,
  });
  if (exitCode !== EXIT.done) return exitCode;
  const comparison = await compareExample(context.paths, created.folder, created.plan.precision);
  if (comparison.matches) reporter.line(comparison.message);
  else reporter.wrong(comparison.message);
  return comparison.matches ? EXIT.done : EXIT.failed;
}
