import { inSequence, message, type Message, type Wording } from '../../contract/messages.ts';
import type { DeviceVerdict } from './checkDevices.ts';

interface Verdicts {
  readonly wrong: boolean;
  readonly sentence: string;
  readonly wordings: Wording[];
}

/** What the devices computed for a test, in a sentence or two; `wrong` where some result is not right. */
export function describeVerdicts(devices: readonly DeviceVerdict[]): Verdicts {
  const problems = devices.flatMap(({ name, precisions }) =>
    precisions
      .filter(({ problem }) => problem !== null)
      .map((verdict) =>
        message('check.computing.wrong', {
          device: name,
          precision: verdict.precision.toUpperCase(),
          problem: problemOf(verdict),
        }),
      ),
  );
  if (problems.length > 0) {
    const leaveOut = message('check.computing.leave_out');
    return { wrong: true, ...inSequence([leaveOut, ...withoutRepeats(problems)]) };
  }
  const right = devices.map(({ name, precisions }) =>
    message('check.computing.right', {
      device: name,
      precisions: precisions.map(({ precision }) => precision.toUpperCase()).join(', '),
    }),
  );
  return { wrong: false, ...inSequence(withoutRepeats(right)) };
}

/** Equal GPUs say the same. */
function withoutRepeats(messages: readonly Message[]): Message[] {
  return [...new Map(messages.map((one) => [one.text, one])).values()];
}

/** By its key where it has one; what a driver has said stays as it is. */
function problemOf({
  problem,
  wording,
  difference,
  allowed,
}: DeviceVerdict['precisions'][number]): Message | string {
  if (wording) return { text: problem ?? '', wording };
  if (difference === null || difference <= allowed) return problem ?? '';
  return message('check.computing.differs', { difference: Number(difference.toPrecision(2)), allowed });
}
