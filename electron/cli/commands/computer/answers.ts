import { unwrap } from '../../../contract/result.ts';
import {
  checkAnswers,
  describeAnswers,
  probeDevices,
  resolveModel,
  type EngineContext,
} from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { toStandardError, toStandardOutput } from '../../output/terminal.ts';

/** Does this installation give the right answers? A sentence for each device and precision. */
export async function answers(context: EngineContext, choice: string, json: boolean): Promise<number> {
  const { environment, paths } = context;
  const model = unwrap(await resolveModel(choice, paths));
  const probe = unwrap(await probeDevices(environment));
  const onDevice = (name: string) => {
    toStandardError(`${name} computes known reading frames with ${model.planModel.title} ...`);
  };
  const checked = unwrap(await checkAnswers(environment, paths, probe, model, { onDevice }));
  toStandardOutput(
    json
      ? JSON.stringify(checked)
      : `${describeAnswers(checked).join('\n')}\nCompared with: ${checked.source}.`,
  );
  const wrong = checked.devices.some(({ precisions }) => precisions.some(({ problem }) => problem !== null));
  return wrong ? EXIT.failed : EXIT.done;
}
