import { z } from 'zod';
import { gpuKindSchema } from '../../../contract/rpc/computer.ts';
import { unwrap } from '../../../contract/result.ts';
import {
  describeVerdicts,
  networkVariables,
  readSetupSettings,
  resolveAppPaths,
  setUp,
  stepLines,
} from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { parsed } from '../../parsed.ts';
import { toStandardError, toStandardOutput } from '../../output/terminal.ts';

const GPU = z.enum([...gpuKindSchema.options, 'here']);

export interface SetupFlags {
  python?: string;
  json?: boolean;
  quiet?: boolean;
  from?: string;
  repair?: boolean;
  withRay?: boolean;
  gpu?: string;
}

/** Sets up this computer, from the network or from a folder, and prints what each device computed. */
export async function setup(flags: SetupFlags): Promise<number> {
  const paths = unwrap(resolveAppPaths({ startFolder: import.meta.dirname }));
  const settings = readSetupSettings(paths.usualDataDir);
  const outcome = unwrap(
    await setUp({
      paths,
      interpreter: flags.python ?? (process.env['VIRNUCPRO_PYTHON'] || settings.interpreter) ?? undefined,
      env: networkVariables(settings),
      from: flags.from,
      repair: flags.repair,
      withRay: flags.withRay,
      gpu: flags.gpu === undefined ? undefined : parsed(GPU, flags.gpu.replace('-', '_')),
      tryDevices: true,
      ...(flags.quiet === true ? {} : { onProgress: stepLines(toStandardError) }),
    }),
  );
  const { environment, devices, remarks } = outcome;
  const computed = devices === null ? null : describeVerdicts(devices);
  const lines = [
    ...remarks,
    ...(computed === null ? [] : [computed.sentence]),
    `Python ${environment.pythonVersion} is ready.`,
  ];
  toStandardOutput(flags.json === true ? JSON.stringify(outcome) : lines.join('\n'));
  return computed?.wrong === true ? EXIT.failed : EXIT.done;
}
