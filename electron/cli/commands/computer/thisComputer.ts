import { z } from 'zod';
import {
  type EngineContext,
  formatBytes,
  probeDevices,
  checkDevicesOnce,
  computerChecks,
  diagnosticsText,
  freeBytes,
  listModels,
  describeTrials,
} from '../../../engine/index.ts';
import { unwrap, ok } from '../../../contract/errors.ts';
import { said, toldOf } from '../../../contract/problems.ts';
import { gpuLine, toStandardOutput } from '../../output/terminal.ts';
import { EXIT } from '../../exitCodes.ts';
import { appVersion, programHere, setUpHere } from '../../openEngine.ts';
import { type CommonFlags, parsed } from '../../commonFlags.ts';
import { gpuKindSchema } from '../../../contract/rpc/computer.ts';

export async function devices(context: EngineContext, json: boolean): Promise<number> {
  const probe = unwrap(await probeDevices(context.environment));
  if (json) {
    process.stdout.write(`${JSON.stringify(probe)}\n`);
    return 0;
  }
  const lines = probe.gpus.map(gpuLine);
  if (probe.apple_mps) lines.push('mps    Apple GPU, never tested with this program');
  if (probe.no_gpu_code) lines.push(`No GPU: ${toldOf(said(probe.no_gpu_code, {}))}`);
  lines.push(
    `CPU    ${probe.cpu.name}, ${probe.cpu.logical_cores} cores, ` +
      `${formatBytes(probe.cpu.memory_available_bytes)} of ${formatBytes(probe.cpu.memory_total_bytes)} memory free`,
  );
  toStandardOutput(lines.join('\n'));
  return 0;
}

const MARKS = { good: 'ok  ', warning: 'note', bad: 'BAD ', checking: '... ', waiting: '... ' } as const;

/**
 * Checks this computer part by part and explains each result, or prints everything for a support request.
 * Works without Python.
 */
export async function doctor(
  flags: CommonFlags & { repair?: boolean; diagnostics?: boolean },
): Promise<number> {
  const program = programHere();
  const { paths } = program;
  const ready = await setUpHere(program, flags, { repair: flags.repair });
  const environment = ready.ok ? ok(ready.value.environment) : ready;
  const probe = environment.ok ? await probeDevices(environment.value) : null;
  const checks = computerChecks({
    environment,
    probe,
    models: ok(await listModels(paths)),
    diskFreeBytes: await freeBytes(paths.dataDir),
    devices:
      environment.ok && probe?.ok
        ? await checkDevicesOnce({ paths, environment: environment.value }, probe.value)
        : null,
  });
  const exitCode = checks.some(({ status }) => status === 'bad') ? EXIT.failed : EXIT.done;
  if (flags.diagnostics) {
    const facts = { appVersion: appVersion(paths.root), shell: 'terminal', dataDir: paths.dataDir };
    const found = {
      environment: environment.ok ? environment.value : null,
      probe: probe?.ok ? probe.value : null,
      checks,
    };
    toStandardOutput(diagnosticsText({ ...facts, ...found, runs: [], shellLog: [] }).trimEnd());
    return exitCode;
  }
  const lines = checks.map(
    ({ status, title, sentence }) => `${MARKS[status]}  ${title.padEnd(18)}  ${sentence}`,
  );
  toStandardOutput(flags.json === true ? JSON.stringify(checks) : lines.join('\n'));
  return exitCode;
}

const GPU = z.enum([...gpuKindSchema.options, 'here']);

export interface SetupFlags extends CommonFlags {
  from?: string;
  repair?: boolean;
  gpu?: string;
}

/** Sets up this computer, from the network or from a folder, and prints what each device computed. */
export async function setup(flags: SetupFlags): Promise<number> {
  const outcome = unwrap(
    await setUpHere(programHere(), flags, {
      from: flags.from,
      repair: flags.repair,
      gpu: flags.gpu === undefined ? undefined : parsed(GPU, flags.gpu.replace('-', '_')),
      tryDevices: true,
    }),
  );
  const { environment, devices, remarks } = outcome;
  const computed = devices === null ? null : describeTrials(devices);
  const lines = [
    ...remarks,
    ...(computed === null ? [] : [computed.sentence]),
    `Python ${environment.pythonVersion} is ready.`,
  ];
  toStandardOutput(flags.json === true ? JSON.stringify(outcome) : lines.join('\n'));
  return computed?.wrong === true ? EXIT.failed : EXIT.done;
}
