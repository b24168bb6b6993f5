/** What is known, when a run begins, of whether its model tells viruses from hosts on the devices that compute it. */
import type { ExportLanguage } from '../../../contract/exports.ts';
import { message } from '../../../contract/messages.ts';
import type { Plan } from '../../../contract/plan.ts';
import { runControlsSchema, type Controls, type RunControls } from '../../../contract/rpc/computer.ts';
import { unwrap } from '../../../contract/result.ts';
import type { ChosenDevice } from '../../devices/chosenDevice.ts';
import { lastControls, runControls } from '../../devices/selfTest/controlsLevel.ts';
import type { EngineContext } from '../../engineContext.ts';
import type { JsonObject, RunDevice } from '../../store/types.ts';
import type { RunNotes } from '../runNotes.ts';

/** Among the facts of a device of a run: null where its model was never checked on a device of that kind. */
const FACT = 'controls';

interface Begin {
  plan: Plan;
  devices: readonly ChosenDevice[];
  /** Computes the quick panel first, as a sample that no table, share or export of the run has. */
  withControls: boolean;
  isFirst: boolean;
  signal: AbortSignal;
}

/** Of each kind of device, the last controls with the run's model and precision. */
export async function controlsAtBegin(
  { environment, paths }: EngineContext,
  notes: RunNotes,
  { plan, devices, withControls, isFirst, signal }: Begin,
): Promise<(kind: ChosenDevice['kind']) => JsonObject> {
  const { model, precision } = plan;
  if (withControls && devices.length > 0)
    unwrap(await runControls(environment, paths, devices, model, { precision, quick: true, signal }));
  const kept = await lastControls(paths, model.hash);
  const last = (kind: ChosenDevice['kind']) =>
    kept.find((one) => one.kind === kind && one.precision === precision);
  for (const { kind, name } of new Map(devices.map((device) => [device.kind, device])).values()) {
    const verdict = last(kind)?.verdict;
    if (verdict !== undefined && verdict !== 'works')
      notes.add('warning', 'model_fails_controls', message('note.model_fails_controls', { device: name }));
    else if (verdict === undefined && isFirst && model.notice === null)
      notes.add('info', 'model_unchecked', message('note.model_unchecked', { device: name }));
  }
  return (kind) => {
    const found = last(kind);
    return { [FACT]: found ? inBrief(found) : null };
  };
}

function inBrief({ panel, groups, ...controls }: Controls): RunControls {
  const called = (name: 'viral' | 'host') => {
    const group = groups.find((one) => one.group === name);
    return { called: group?.called_virus ?? 0, scored: group?.scored ?? 0 };
  };
  const { checkedAt, kind, deviceName, precision, verdict, auroc } = controls;
  const known = { checkedAt, kind, deviceName, precision, verdict, auroc };
  return {
    ...known,
    quick: panel.quick,
    panelSha256: panel.sha256,
    viral: called('viral'),
    host: called('host'),
  };
}

/** Of a run that has begun: what was known then, of each kind of device. Null where that was not noted. */
export function controlsOf(devices: readonly RunDevice[]): RunControls[] | null {
  const noted = devices.flatMap(({ facts }) => (FACT in facts ? [facts[FACT]] : []));
  if (noted.length === 0) return null;
  const found = noted.flatMap((one) => runControlsSchema.safeParse(one).data ?? []);
  return [...new Map(found.map((one) => [`${one.kind} ${one.precision}`, one])).values()];
}

/** For run.json. */
export function controlsFacts(devices: readonly RunDevice[]) {
  const group = ({ called, scored }: RunControls['viral']) => ({ called_virus: called, scored });
  return (
    controlsOf(devices)?.map(({ checkedAt, kind, deviceName, panelSha256, viral, host, ...rest }) => ({
      checked_at: checkedAt,
      kind,
      device: deviceName,
      ...rest,
      panel_sha256: panelSha256,
      viral: group(viral),
      host: group(host),
    })) ?? null
  );
}

const WORDS = {
  en: {
    verdict: {
      works: 'works as a classifier of viruses',
      differs: 'computes wrongly on this device: do not use it there',
      shifted: 'tells viruses apart, but not at a score of 0.5: do not rely on its calls',
      weak: 'tells viruses apart poorly: do not use it',
      chance: 'calls no better than chance: do not use it',
      inverted: 'takes viruses for hosts and hosts for viruses: do not use it',
      no_answer: 'gives no score for sequences that must have one: do not use it',
    },
    called: (viral: string, host: string) => `${viral} viral and ${host} host sequences called virus`,
    of: (count: number, all: number) => `${count} of ${all}`,
    never: 'never checked on these devices',
  },
  de: {
    verdict: {
      works: 'erkennt Viren',
      differs: 'rechnet auf diesem Gerät falsch: dort nicht verwenden',
      shifted: 'trennt Viren, aber nicht beim Wert 0,5: die Einstufungen sind nicht verlässlich',
      weak: 'trennt Viren schlecht: nicht verwenden',
      chance: 'stuft nicht besser ein als der Zufall: nicht verwenden',
      inverted: 'hält Viren für Wirte und Wirte für Viren: nicht verwenden',
      no_answer: 'gibt Sequenzen keinen Wert, die einen haben müssen: nicht verwenden',
    },
    called: (viral: string, host: string) =>
      `${viral} viralen und ${host} Wirtssequenzen als Virus eingestuft`,
    of: (count: number, all: number) => `${count} von ${all}`,
    never: 'auf diesen Geräten nie geprüft',
  },
} as const;

export const VERDICTS = WORDS.en.verdict;

/** A line for the terminal and the report; null for a run of which it was not noted. */
export function describeRunControls(devices: readonly RunDevice[], language: ExportLanguage): string | null {
  const words = WORDS[language];
  const found = controlsOf(devices);
  if (found === null) return null;
  if (found.length === 0) return words.never;
  return found
    .map(({ verdict, viral, host, deviceName, precision, checkedAt }) => {
      const of = ({ called, scored }: RunControls['viral']) => words.of(called, scored);
      const where = `${deviceName}, ${precision.toUpperCase()}, ${checkedAt.slice(0, 10)}`;
      return `${words.verdict[verdict]}: ${words.called(of(viral), of(host))} (${where})`;
    })
    .join('; ');
}
