import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { execa } from 'execa';
import { type EngineContext, fidelityReport, pythonLaunch, resolveModel } from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { unwrap } from '../../../contract/result.ts';

/** Measures what each precision costs in exactness with a model on this computer; `predict --precision fp8` asks for it. */
export async function fidelity(
  context: EngineContext,
  model: string,
  inputs: readonly string[],
): Promise<number> {
  const { planModel } = unwrap(await resolveModel(model, context.paths));
  const report = fidelityReport(context.paths, planModel.hash);
  await mkdir(dirname(report), { recursive: true });
  const launch = pythonLaunch(context.environment, 'virnucpro_backend.fidelity', [
    '--model',
    planModel.folder,
    '--json',
    report,
    '--input',
    ...inputs,
  ]);
  const { exitCode } = await execa(launch.file, launch.args, {
    env: launch.env,
    extendEnv: false,
    stdio: 'inherit',
    reject: false,
  });
  return exitCode === 0 ? EXIT.done : EXIT.failed;
}
