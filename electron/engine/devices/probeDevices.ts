/** Asks the Python backend which devices this computer has. */
import { ok, type Result, failWith } from '../../contract/errors.ts';
import { readJson } from '../../contract/parseJson.ts';
import { PROTOCOL_VERSION, probeResultSchema, type ProbeResult } from '../../contract/protocol/index.ts';
import { cardBlock } from '../environment/install/choosePyTorch.ts';
import { pythonLaunch, type PythonEnvironment } from '../environment/pythonLaunch.ts';
import { runCommand, type CommandRunner } from '../environment/runCommand.ts';

/** The probe takes well under a second; a driver that hangs is the only reason to wait longer. */
const PROBE_TIMEOUT_MS = 30_000;

const underWay = new Map<string, Promise<Result<ProbeResult>>>();

/** Simultaneous requests share one process and its result. */
export function probeDevices(
  environment: PythonEnvironment,
  run: CommandRunner = runCommand,
): Promise<Result<ProbeResult>> {
  const { interpreter } = environment;
  const known = underWay.get(interpreter);
  if (known) return known;
  const probe = probeOnce(environment, run).finally(() => underWay.delete(interpreter));
  underWay.set(interpreter, probe);
  return probe;
}

async function probeOnce(environment: PythonEnvironment, run: CommandRunner): Promise<Result<ProbeResult>> {
  const launch = pythonLaunch(environment, 'virnucpro_backend.devices.probe');
  const outcome = await run({ ...launch, timeoutMs: PROBE_TIMEOUT_MS });
  if (outcome.ending === 'timed_out') {
    return failWith('no_usable_device', 'Asking for the GPUs got no answer within 30 seconds.', {
      nextStep:
        'Restart the computer: the graphics driver seems to hang. Or choose the processor with --devices cpu.',
      detail: outcome.stderr,
    });
  }
  if (outcome.ending !== 'succeeded') {
    return failWith('python_broken', 'The Python backend could not tell which devices there are.', {
      detail: `${outcome.summary}\n${outcome.stderr}`,
    });
  }
  return parseProbe(outcome.stdout);
}

function parseProbe(stdout: string): Result<ProbeResult> {
  const read = readJson(probeResultSchema, stdout);
  if (!read.ok) {
    return failWith('python_broken', 'The device probe sent something unexpected.', {
      detail: `${read.error}\n${stdout}`,
    });
  }
  if (read.value.protocol !== PROTOCOL_VERSION) {
    return failWith(
      'protocol_version',
      `The Python backend speaks protocol ${read.value.protocol}, this program ${PROTOCOL_VERSION}.`,
    );
  }
  return ok(withCardBlocks(read.value));
}

/** Marks the GPUs that the installed PyTorch can't use, so that no worker fails on them. */
export function withCardBlocks(
  probe: ProbeResult,
  system: Pick<NodeJS.Process, 'platform' | 'arch'> = process,
): ProbeResult {
  const { torch_cuda: cuda, cuda_driver_version: driversCuda } = probe;
  if (cuda === null || cuda === undefined) return probe;
  return {
    ...probe,
    gpus: probe.gpus.map((gpu) =>
      gpu.blocked_by === null
        ? { ...gpu, blocked_by: cardBlock(cuda, gpu.compute_capability, driversCuda, system) }
        : gpu,
    ),
  };
}
