import { z } from 'zod';
import { VERDICTS, type CheckResult } from '../../../contract/checks.ts';
import { precisionSchema } from '../../../contract/protocol/index.ts';
import { unwrap } from '../../../contract/errors.ts';
import { checkThisComputer, type EngineContext } from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { parsed } from '../../commonFlags.ts';
import { toStandardError, toStandardOutput } from '../../output/terminal.ts';

export interface CheckFlags {
  model: string;
  seconds: number;
  devices: string;
  quick?: boolean;
  precision: string;
  json?: boolean;
}

const checkNameSchema = z.enum(['devices', 'controls', 'precision', 'speed']);

/** Checks whether this installation computes correctly, and prints the results; with --json as JSON. */
export async function check(
  context: EngineContext,
  what: string,
  inputs: readonly string[],
  { model, json, devices, seconds, quick = false, precision }: CheckFlags,
): Promise<number> {
  const name = parsed(checkNameSchema, what);
  const onDevice = (device: string): void => {
    toStandardError(`${device} is computing ...`);
  };
  const asked = parsed(z.union([precisionSchema, z.literal('auto')]), precision);
  const wish = { inputs, devices, precision: asked, quick, seconds, onDevice };
  const results = unwrap(await checkThisComputer(context, { check: name, model }, wish));
  const lines = [...results.map(line), ...(name === 'controls' ? [PANEL_CANNOT_SAY] : [])];
  toStandardOutput(json === true ? JSON.stringify(results) : lines.join('\n'));
  return results.every(({ verdict }) => verdict === 'works') ? EXIT.done : EXIT.failed;
}

const line = ({ device, precision, verdict, sentence }: CheckResult): string =>
  `${device.name}, ${precision.toUpperCase()}: ${VERDICTS[verdict].en}. ${sentence}`;

const PANEL_CANNOT_SAY =
  'What this cannot say: published models may have been trained on these genomes, and hardly any virus of eukaryotes is among them.';
