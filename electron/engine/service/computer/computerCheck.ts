import { appError } from '../../../contract/errors.ts';
import { inSequence, message } from '../../../contract/messages.ts';
import { err, ok } from '../../../contract/result.ts';
import type { ComputerCheck } from '../../../contract/rpc/computer.ts';
import { computerChecks, freeBytes, type ComputerFacts } from '../../devices/computerChecks.ts';
import { checkDevicesOnce } from '../../devices/selfTest/deviceLevel.ts';
import { probeDevices } from '../../devices/probeDevices.ts';
import { listModels } from '../../models/listModels.ts';
import type { EngineBase } from '../../engineBase.ts';
import type { PythonEnvironmentManager } from './pythonEnvironmentManager.ts';

/** The facts that each card needs before it can report anything. */
const NEEDS: Record<ComputerCheck['id'], 'probe' | 'models' | 'disk' | 'python' | 'devices'> = {
  gpus: 'probe',
  memory: 'probe',
  disk: 'disk',
  python: 'python',
  computing: 'devices',
  weights: 'models',
};

/** Yields all cards repeatedly, each with more information than before, until everything is known. */
export async function* checkComputer(
  base: EngineBase,
  pythonEnvironment: PythonEnvironmentManager,
): AsyncGenerator<ComputerCheck[], void> {
  const known = new Set<string>();
  const facts: ComputerFacts = {
    environment: err(appError('python_missing', 'Not looked at yet.')),
    probe: null,
    models: null,
    diskFreeBytes: null,
    devices: null,
  };
  const cards = (): ComputerCheck[] =>
    computerChecks(facts).map((card) =>
      known.has(NEEDS[card.id])
        ? card
        : { ...card, status: 'checking', ...inSequence([message('check.under_way')]), action: null },
    );
  yield cards();
  facts.diskFreeBytes = await freeBytes(base.paths.dataDir);
  known.add('disk');
  yield cards();
  facts.environment = await pythonEnvironment.recheck();
  facts.neverSetUp = await pythonEnvironment.neverSetUp();
  known.add('python');
  yield cards();
  if (facts.environment.ok) {
    const environment = facts.environment.value;
    facts.probe = await probeDevices(environment);
    known.add('probe');
    yield cards();
    facts.models = ok(await listModels(base.paths));
    known.add('models');
    yield cards();
    if (facts.probe.ok) facts.devices = await checkDevicesOnce(base.paths, environment, facts.probe.value);
  }
  known.add('probe').add('models').add('devices');
  yield cards();
}

/** All cards with their final results. */
export async function wholeCheck(
  base: EngineBase,
  pythonEnvironment: PythonEnvironmentManager,
): Promise<ComputerCheck[]> {
  let last: ComputerCheck[] = [];
  for await (const cards of checkComputer(base, pythonEnvironment)) last = cards;
  return last;
}
