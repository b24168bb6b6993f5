/** What the test computation on each device decides: what a run may use, and what the computer check says. */
import { resultsOf, type ResultOf } from '../../../contract/checks.ts';
import { failWith, ok, unwrap, type Result } from '../../../contract/errors.ts';
import { inSequence, message, plain, type Message, type Wording } from '../../../contract/messages.ts';
import type { PlanModel } from '../../../contract/plan.ts';
import {
  offeredPrecisions,
  type FailedPrecision,
  type Precision,
  type ProbeResult,
} from '../../../contract/protocol/index.ts';
import type { CommandRunner } from '../../environment/runCommand.ts';
import { possiblePrecisions } from '../choosePrecision.ts';
import type { ChosenDevice } from '../chosenDevice.ts';
import { CPU_ID, devicesToTest, lastResults, runCheck, type CheckPlace } from './check.ts';

export type Trial = ResultOf<'devices'>;

/** Tests the devices, unless they all passed before with the same PyTorch and driver. */
export async function checkDevicesOnce(
  place: CheckPlace,
  probe: ProbeResult,
  run?: CommandRunner,
): Promise<Trial[]> {
  const devices = devicesToTest(probe);
  const known = (await lastTrials(place, probe)).filter((one) =>
    devices.some(({ id }) => id === one.device.id),
  );
  const has = (device: ChosenDevice, precision: Precision) =>
    known.some(
      (one) => one.device.id === device.id && one.precision === precision && one.verdict === 'works',
    );
  // A problem may be temporary, such as a GPU without free memory, so it is tested again.
  if (devices.every((device) => possiblePrecisions(device).every((precision) => has(device, precision))))
    return known;
  return checkDevices(place, probe, run);
}

export async function checkDevices(
  place: CheckPlace,
  probe: ProbeResult,
  run?: CommandRunner,
): Promise<Trial[]> {
  const devices = devicesToTest(probe);
  const check = { check: 'devices', devices, driver: probe.driver_version, ...(run ? { run } : {}) } as const;
  return resultsOf(unwrap(await runCheck(place, check)), 'devices');
}

const lastTrials = async (place: CheckPlace, probe: ProbeResult): Promise<Trial[]> =>
  resultsOf(await lastResults(place, probe.driver_version), 'devices').filter(
    ({ outdated }) => outdated === null,
  );

/**
 * Marks what the devices failed at in the last test, so that no run offers it and no worker fails on it, and
 * orders the processor's precisions by the measured speed.
 */
export async function withLastTest(place: CheckPlace, probe: ProbeResult): Promise<ProbeResult> {
  const trials = await lastTrials(place, probe);
  const failed = (id: string): FailedPrecision[] =>
    trials
      .filter((one) => one.device.id === id && one.verdict !== 'works' && !mayHavePassed(one))
      .map(({ precision, sentence }) => ({ precision, problem: sentence }));
  const rate = (precision: Precision): number =>
    trials.find((one) => one.device.id === CPU_ID && one.precision === precision)?.figures
      ?.passes_per_second ?? 0;
  const bySpeed = probe.cpu.precisions.toSorted((one, other) => rate(other) - rate(one));
  return {
    ...probe,
    cpu: { ...probe.cpu, precisions: bySpeed },
    apple_failed: failed('mps'),
    cpu_failed: failed(CPU_ID),
    gpus: probe.gpus.map((gpu) => {
      const failures = failed(gpu.uuid);
      if (failures.length === 0) return gpu;
      const marked = { ...gpu, failed: failures };
      return gpu.blocked_by === null && offeredPrecisions(marked).length === 0
        ? { ...marked, blocked_by: 'trial' as const }
        : marked;
    }),
  };
}

/** Memory that another program used, or a driver that was busy. */
const mayHavePassed = ({ sentence, wordings }: Trial): boolean =>
  /out ?of ?memory/i.test(sentence) || wordings[0]?.key === 'check.computing.no_answer';

/** Describes the results in a sentence or two; `wrong` if some result is not correct. */
export function describeTrials(trials: readonly Trial[]): {
  wrong: boolean;
  sentence: string;
  wordings: Wording[];
} {
  const wrong = trials.filter(({ verdict }) => verdict !== 'works');
  if (wrong.length > 0) {
    const problems = wrong.map(({ device, precision, sentence, wordings: [wording] }) =>
      message('check.computing.wrong', {
        device: device.name,
        precision: precision.toUpperCase(),
        problem: wording ? { text: sentence, wording } : plain(sentence),
      }),
    );
    return {
      wrong: true,
      ...inSequence([message('check.computing.leave_out'), ...withoutRepeats(problems)]),
    };
  }
  const names = new Map(trials.map(({ device }) => [device.id, device.name]));
  const right = [...Map.groupBy(trials, ({ device }) => device.id)].map(([id, of]) =>
    message('check.computing.right', {
      device: names.get(id) ?? id,
      precisions: of.map(({ precision }) => precision.toUpperCase()).join(', '),
    }),
  );
  return { wrong: false, ...inSequence(withoutRepeats(right)) };
}

/** Equal GPUs produce the same sentence. */
function withoutRepeats(messages: readonly Message[]): Message[] {
  return [...new Map(messages.map((one) => [one.text, one])).values()];
}

/** Loses so much accuracy that a run may use it only after it was measured with the very same model. */
const MEASURED_FIRST: Precision = 'fp8';

/** Whether a run may use a precision with a model on these devices. */
export async function checkPrecision(
  place: CheckPlace,
  { hash }: Pick<PlanModel, 'hash'>,
  precision: Precision,
  devices: readonly ChosenDevice[],
): Promise<Result<void>> {
  if (precision !== MEASURED_FIRST) return ok(undefined);
  const name = precision.toUpperCase();
  const refuse = (cause: string, nextStep: string) => failWith('precision_unsupported', cause, { nextStep });
  const results = resultsOf(await lastResults(place, null), 'precision').filter(
    (one) => one.model === hash && one.precision === precision,
  );
  for (const device of devices) {
    const found = results.find((one) => one.device.name === device.name);
    if (!found)
      return refuse(
        `${name} has not been checked with this model on ${device.name}.`,
        'Run "virnucpro check precision" with this model first, or choose another precision.',
      );
    if (found.verdict !== 'works')
      return refuse(
        `${name} did not pass the check with this model: ${found.sentence}`,
        'Choose another precision.',
      );
  }
  return ok(undefined);
}
