import type { ExportLanguage } from '../../contract/exports.ts';
import { runControlsSchema, type RunControls } from '../../contract/rpc/computer.ts';

/** The key among a device's facts: null if the run's model was never checked on a device of that kind. */
export const CONTROLS_FACT = 'controls';

type RunDevices = readonly { readonly facts: Readonly<Record<string, unknown>> }[];

/** What was known about each kind of device when the run began. Null if that was not stored. */
export function controlsOf(devices: RunDevices): RunControls[] | null {
  const noted = devices.flatMap(({ facts }) => (CONTROLS_FACT in facts ? [facts[CONTROLS_FACT]] : []));
  if (noted.length === 0) return null;
  const found = noted.flatMap((one) => runControlsSchema.safeParse(one).data ?? []);
  return [...new Map(found.map((one) => [`${one.kind} ${one.precision}`, one])).values()];
}

/** The controls in run.json's form. */
export function controlsFacts(devices: RunDevices) {
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

/** A line for the terminal and the report; null for a run that did not store its controls. */
export function describeRunControls(devices: RunDevices, language: ExportLanguage): string | null {
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
