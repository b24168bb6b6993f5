import { X509Certificate } from 'node:crypto';
import { access, constants, readFile, stat } from 'node:fs/promises';
import { dirname, isAbsolute } from 'node:path';
import { ok, AppFailure, failWith, usage } from '../../../contract/errors.ts';
import { inSequence, message } from '../../../contract/messages.ts';
import type { ComputerCheck, Settings } from '../../../contract/rpc/computer.ts';
import { computerChecks, freeBytes, type ComputerFacts } from '../../devices/computerChecks.ts';
import { checkDevicesOnce } from '../../devices/check/trial.ts';
import { probeDevices } from '../../devices/probeDevices.ts';
import { listModels } from '../../models/listModels.ts';
import type { EngineBase } from '../../run/engineContext.ts';
import type { PythonEnvironmentManager } from './pythonEnvironmentManager.ts';
import { tooLong, type PathLimit } from '../../system/pathLength.ts';

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
    environment: failWith('python_missing', 'Not looked at yet.'),
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
    if (facts.probe.ok) facts.devices = await checkDevicesOnce({ ...base, environment }, facts.probe.value);
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

/** Characters of the longest path that the Python environment has below the data folder, as seen on Linux: a licence of PyTorch's. */
const LONGEST_BELOW = 198;

type Change = { [Name in keyof Settings]?: Settings[Name] | undefined };

/** Refuses settings of the set-up that could not work, so that the field can show it at once. */
export async function checkSetUp(
  { dataFolder, certificateFile, interpreter }: Change,
  pythonEnvironment: Pick<PythonEnvironmentManager, 'tryInterpreter'>,
  limit?: PathLimit,
): Promise<void> {
  if (dataFolder) {
    const long = tooLong(dataFolder, { code: 'usage', below: LONGEST_BELOW }, limit);
    if (long !== undefined) throw new AppFailure(long);
    await checkFolder(dataFolder);
  }
  if (certificateFile) await checkCertificate(certificateFile);
  if (interpreter) {
    const found = await pythonEnvironment.tryInterpreter(interpreter);
    if (!found.ok) throw new AppFailure(found.error);
  }
}

/** The folder need not exist yet, but its nearest existing parent must allow creating it. */
async function checkFolder(folder: string): Promise<void> {
  if (!isAbsolute(folder)) throw usage(`${folder} is not a whole path.`, 'Choose a folder.');
  for (let place = folder; ; place = dirname(place)) {
    const info = await stat(place).catch(() => undefined);
    if (info === undefined && dirname(place) !== place) continue;
    if (!info?.isDirectory()) throw usage(`${place} is not a folder.`, 'Choose a folder.');
    await access(place, constants.W_OK).catch(() => {
      throw usage(`${place} may not be written to.`, 'Choose another folder.');
    });
    return;
  }
}

async function checkCertificate(file: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw usage(`${file} cannot be read.`, 'Choose another file.');
  });
  try {
    new X509Certificate(text);
  } catch {
    throw usage(
      `${file} holds no certificate in PEM format.`,
      'Choose a file that begins with "-----BEGIN CERTIFICATE-----".',
    );
  }
}
