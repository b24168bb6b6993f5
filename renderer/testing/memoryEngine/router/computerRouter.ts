import { implement, ORPCError } from '@orpc/server';
import {
  appError,
  contract,
  message,
  plain,
  settingsSchema,
  type ComputerCheck,
} from '../../../../electron/contract/index.ts';
import {
  CHECKS,
  CALIBRATION,
  madeControls,
  madeOfflineFolder,
  madeSpeed,
  PACKABLE_GPUS,
} from '../computer.ts';
import { madeSteps, pause, watched } from '../steps.ts';
import type { World } from '../world.ts';

const WEIGHTS = [
  { ...plain('Downloading esm2_t36_3B_UR50D.pt'), bytes: 6_150_000_000 },
  plain('Converting ESM-2'),
];

export function computerRouter(world: World) {
  const { computer } = implement(contract);
  return {
    info: computer.info.handler(() => ({
      version: '0.1.0',
      shell: 'browser' as const,
      platform: 'linux',
      dataDir: '/data/results',
      root: '/data',
      sameComputer: true,
      hostName: 'gpu-node-3',
    })),
    devices: computer.devices.handler(() => needPython(world, () => world.probe)),
    models: computer.models.handler(() => needPython(world, () => [...world.models])),
    check: computer.check.handler(async function* () {
      yield CHECKS.map((check) => ({ ...check, status: 'checking' as const, sentence: '…', action: null }));
      await pause(150);
      yield checksOf(world);
    }),
    environment: computer.environment.handler(({ signal }) =>
      watched(() => world.environment.status, signal),
    ),
    setUpPython: computer.setUpPython.handler(() => {
      void world.environment.setUp();
    }),
    freeSpace: computer.freeSpace.handler(() => ({ bytes: 214_000_000_000 })),
    getWeights: computer.getWeights.handler(async function* ({ input }) {
      yield* madeSteps(WEIGHTS, 200);
      world.models = world.models.map((model) =>
        model.id === input.model
          ? { ...model, present: true, sizeBytes: model.sizeBytes ?? model.downloadBytes }
          : model,
      );
    }),
    calibration: computer.calibration.handler(({ input }) => (input.model === '500' ? CALIBRATION : null)),
    checks: computer.checks.handler(() => {
      const present = world.models.filter((model) => model.present);
      const hashOf = (id: string) => (id === 'teaching' ? 'd' : id === '500' ? 'a' : 'b').repeat(64);
      const controlled = present.filter(({ id }) => world.controlled.has(id));
      return {
        results: [
          ...controlled.map(({ id }) => madeControls(hashOf(id))),
          ...(world.speedIsMeasured ? madeSpeed() : []),
        ],
        models: present.map(({ id, title }) => ({
          model: id,
          title,
          hash: hashOf(id),
          chunksPerMinute: world.speedIsMeasured ? 9400 : null,
        })),
      };
    }),
    runCheck: computer.runCheck.handler(async function* ({ input }) {
      yield* madeSteps([plain('Computing known sequences')]);
      if (input.check === 'speed') world.speedIsMeasured = true;
      else if (input.model !== undefined) world.controlled.add(input.model);
    }),
    weightsUnderWay: computer.weightsUnderWay.handler(() => ({ models: [] })),
    importWeights: computer.importWeights.handler(() =>
      madeSteps([message('step.checking', { file: 'ESM-2' }), message('step.converting', { file: 'ESM-2' })]),
    ),
    offlineChoices: computer.offlineChoices.handler(() => ({
      gpus: PACKABLE_GPUS,
      underWay: world.packing,
    })),
    packOffline: computer.packOffline.handler(async function* ({ input }) {
      world.packing = input;
      const isStillPacking = () => world.packing !== null;
      for await (const progress of madeSteps([
        message('step.pytorch_packages'),
        message('step.packing'),
        message('step.copying'),
        message('step.checksums'),
      ])) {
        // Another call has cancelled it.
        if (!isStillPacking()) {
          const error = appError('internal', 'Packing was given up.');
          yield { ...progress, finished: true, error };
          return;
        }
        yield progress;
      }
      world.packing = null;
    }),
    cancelPacking: computer.cancelPacking.handler(() => {
      world.packing = null;
    }),
    lookAtOfflineFolder: computer.lookAtOfflineFolder.handler(({ input }) => madeOfflineFolder(input.folder)),
    setUpFromFolder: computer.setUpFromFolder.handler(async function* () {
      void world.environment.setUp();
      yield* madeSteps([message('step.folder'), message('step.pytorch'), message('step.devices')]);
    }),
    diagnostics: computer.diagnostics.handler(() => ({
      text: 'VirNucPro Desktop 0.1.0, browser mode\nSystem: Linux 6.8 x64',
    })),
    settings: computer.settings.handler(() => world.settings),
    changeSettings: computer.changeSettings.handler(({ input }) => {
      const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
      world.settings = settingsSchema.parse({ ...world.settings, ...given });
      return world.settings;
    }),
    browse: computer.browse.handler(({ input }) => {
      const folder = input.folder ?? '/data';
      const entry = (name: string, sizeBytes: number | null) => ({
        ...{ name, path: `${folder}/${name}`, isFolder: sizeBytes === null, sizeBytes },
        changedAt: sizeBytes === null ? null : '2026-11-19T08:30:00.000Z',
      });
      return {
        folder,
        parent: folder === '/data' ? null : '/data',
        entries: [
          entry('soil-2026', null),
          entry('contigs.fasta', 48_200_000),
          entry('reads.fastq.gz', 1_900_000_000),
        ],
        truncated: false,
      };
    }),
  };
}

/** What the engine answers to every call that needs Python. */
function needPython<Answer>(world: World, answer: () => Answer): Answer {
  if (world.environment.status.state === 'ready') return answer();
  const error = appError('python_broken', 'The Python environment is not set up.');
  throw new ORPCError('APP', { data: error, message: error.title, defined: true });
}

function checksOf(world: World): ComputerCheck[] {
  if (world.environment.status.state === 'ready') return CHECKS;
  return CHECKS.map((check) =>
    check.id === 'python'
      ? {
          ...check,
          status: 'bad',
          sentence: 'Not set up yet.',
          action: { label: 'Set up', kind: 'set_up_python' },
        }
      : check.id === 'disk'
        ? check
        : { ...check, status: 'waiting', sentence: 'Checked after Python is set up.', action: null },
  );
}
