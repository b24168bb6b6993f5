/**
 * What is known, when a run begins, about how well its model separates viruses from hosts on the devices that
 * compute it.
 */
import {
  CONTROLS_FACT,
  calledOf,
  resultsOf,
  type ResultOf,
  type RunControls,
} from '../../../contract/checks.ts';
import { message } from '../../../contract/messages.ts';
import type { Plan } from '../../../contract/plan.ts';
import type { ChosenDevice } from '../../devices/chosenDevice.ts';
import { firstOfEachKind, lastResults } from '../../devices/check/check.ts';
import type { EngineContext } from '../engineContext.ts';
import type { JsonObject } from '../../store/types.ts';
import type { RunNotes } from '../runNotes.ts';

interface Begin {
  plan: Plan;
  devices: readonly ChosenDevice[];
  driver: string | null;
  isFirst: boolean;
}

/** The last controls with the run's model and precision, for each kind of device. */
export async function controlsAtBegin(
  context: EngineContext,
  notes: RunNotes,
  { plan, devices, driver, isFirst }: Begin,
): Promise<(kind: ChosenDevice['kind']) => JsonObject> {
  const { model, precision } = plan;
  const results = resultsOf(await lastResults(context, driver), 'controls').filter(
    (one) => one.model === model.hash && one.precision === precision,
  );
  const last = (kind: ChosenDevice['kind']) => results.find(({ device }) => device.kind === kind);
  for (const { kind, name } of firstOfEachKind(devices)) {
    const found = last(kind);
    if (found && found.verdict !== 'works')
      notes.add('warning', 'model_fails_controls', message('note.model_fails_controls', { device: name }));
    else if (found?.outdated && isFirst)
      notes.add('info', 'controls_outdated', message('note.controls_outdated', { device: name }));
    else if (!found && isFirst && model.notice === null)
      notes.add('info', 'model_unchecked', message('note.model_unchecked', { device: name }));
  }
  return (kind) => {
    const found = last(kind);
    return { [CONTROLS_FACT]: found ? inBrief(found) : null };
  };
}

function inBrief(found: ResultOf<'controls'>): RunControls | null {
  const { checkedAt, device, precision, verdict, figures } = found;
  if (figures === null) return null;
  const { sha256: panelSha256, quick } = figures.panel;
  const known = { checkedAt, kind: device.kind, deviceName: device.name, precision, verdict };
  return { ...known, quick, panelSha256, viral: calledOf(figures, 'viral'), host: calledOf(figures, 'host') };
}
