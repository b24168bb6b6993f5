import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  appError,
  NO_DETAILS,
  runRequestSchema,
  type InspectedFile,
  type ModelStatus,
} from '../../../electron/contract/index.ts';
import { madeInspection, madeProbe, MODELS } from '../../testing/memoryEngine/computer.ts';
import {
  ADVANCED_DEFAULTS,
  choicesFrom,
  chosenGpus,
  chosenModel,
  devicesText,
  expectsGpus,
  requestFrom,
  secondLookOf,
  RUN_REQUEST_DEFAULTS,
  samplesOfFiles,
} from './choices.ts';
import { type ListedFile, totalsOf, verdictOf, withFiles } from './inspection.ts';
import { adviseLook } from './modelAdvice.ts';
import { startReasons } from './startReasons.ts';
import { choose, nameSamples, startOver, useNewRun } from './store.ts';

const listed = (path: string): ListedFile => ({ path, inspected: madeInspection(path) });
const probe = madeProbe(8);
const [model] = MODELS;
if (!model) throw new Error('The test needs a model');

describe('why the Start button cannot be pressed', () => {
  const ready = {
    connection: 'connected' as const,
    files: [listed('/a.fasta')],
    uploads: 0,
    sheetHasFault: false,
    looking: false,
    lacksEnvironment: false,
    modelsKnown: true,
    model,
    chosenGpus: 2,
    estimate: null,
    folderError: null,
  };
  const codes = (change: Partial<Parameters<typeof startReasons>[0]>) =>
    startReasons({ ...ready, ...change }).map((reason) => reason.code);

  it('lists no reason when all is well, with GPUs or without any', () => {
    expect(codes({})).toEqual([]);
    expect(codes({ chosenGpus: null })).toEqual([]);
  });

  it.each([
    [{ connection: 'lost' as const }, ['not_connected']],
    [{ files: [] }, ['no_files']],
    [{ files: [], uploads: 1 }, ['uploading']],
    [{ files: [], looking: true }, ['looking']],
    [{ files: [{ path: '/b.fa', inspected: null }], looking: true }, ['looking']],
    [{ files: [listed('/truncated.fa.gz')] }, ['blocked_files']],
    // The run goes on without this file.
    [{ files: [listed('/a.fasta'), listed('/truncated.fa.gz')] }, []],
    [{ lacksEnvironment: true, model: null, modelsKnown: false, files: [] }, ['not_set_up']],
    [{ model: null, modelsKnown: false }, ['models_unknown']],
    [{ model: null }, ['no_model']],
    [{ model: { ...model, present: false } }, ['model_missing']],
    [{ model: { ...model, present: false, problem: appError('model_damaged', 'x') } }, ['model_damaged']],
    [{ chosenGpus: 0 }, ['no_device']],
    [{ connection: 'lost' as const, files: [] }, ['not_connected', 'no_files']],
  ])('%j', (change, expected) => {
    expect(codes(change)).toEqual(expected);
  });

  it('passes the engine’s objection on, but not alongside a simpler reason', () => {
    const blocker = appError('disk_full', 'full');
    const estimate = {
      computation: null,
      seconds: null,
      basis: null,
      diskBytes: 1,
      diskFreeBytes: 0,
      outputDir: '/x',
      blocker,
    };
    expect(startReasons({ ...ready, estimate })).toEqual([{ code: 'engine', error: blocker }]);
    expect(codes({ estimate, files: [] })).toEqual(['no_files']);
  });
});

describe('the list of files', () => {
  it('contains each file once, in the order of arrival, however often it is found', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.constantFrom('/a', '/b', '/c', '/d'))), (batches) => {
        let files: readonly ListedFile[] = [];
        for (const batch of batches) files = withFiles(files, batch);
        expect(files.map((file) => file.path)).toEqual([...new Set(batches.flat())]);
      }),
    );
  });

  it('assigns an inspection to its file', () => {
    const files = withFiles(withFiles([], ['/a.fa', '/b.fa']), [], madeInspection('/b.fa'));
    expect(files.map(verdictOf)).toEqual(['looking', 'ready']);
    expect(totalsOf(files)).toMatchObject({ files: 2, sequences: 27_734 });
  });
});

describe('a sample sheet', () => {
  const files = [listed('/d/a_R1.fq'), listed('/d/a_R2.fq'), listed('/d/blank.fa'), listed('/d/c.fa')];
  const details = { group: 'gut', note: null, control: false };
  const rows = [
    { ...details, file: 'a_R1.fq', sample: 'Patient 1' },
    { ...details, file: 'blank.fa', sample: 'Blank', control: true },
  ];
  const choices = { ...RUN_REQUEST_DEFAULTS, sheet: { name: 'samples.csv', rows } };

  it('names the samples, leaves unlisted files to their names, and yields to names given by hand', () => {
    expect(samplesOfFiles(choices, files)).toEqual(['Patient 1', 'Patient 1', 'Blank', 'c']);
    const byHand = { ...choices, samples: { '/d/c.fa': 'Patient 1' } };
    expect(samplesOfFiles(byHand, files)).toEqual(['Patient 1', 'Patient 1', 'Blank', 'Patient 1']);
  });

  it('is part of the request, and of the choices restored from it', () => {
    const request = requestFrom(choices, files, model, probe);
    expect(request).toMatchObject({
      samples: { '/d/a_R1.fq': 'Patient 1', '/d/a_R2.fq': 'Patient 1', '/d/blank.fa': 'Blank' },
      sampleDetails: { '/d/a_R2.fq': details, '/d/blank.fa': { ...details, control: true } },
    });
    const again = choicesFrom(runRequestSchema.parse(request));
    expect(requestFrom(again, files, model, probe)).toEqual(request);
  });

  it('yields to groups, notes and controls given by hand, which are stored in the run like its own', () => {
    useNewRun.setState({ files, choices });
    const own = { sample: 'c', group: 'lake', note: 'March', control: true };
    const sheet = { sample: 'Patient 1', ...details };
    nameSamples([sheet, sheet, { sample: 'Blank', ...details, control: true }, own]);
    const named = useNewRun.getState().choices;
    // What the sheet says already is not stored twice.
    expect(named).toMatchObject({ samples: {}, details: { '/d/c.fa': { group: 'lake', control: true } } });
    const request = requestFrom(named, files, model, probe);
    expect(request.sampleDetails).toMatchObject({
      '/d/a_R2.fq': details,
      '/d/c.fa': { group: 'lake', note: 'March', control: true },
    });
    const again = choicesFrom(runRequestSchema.parse(request));
    expect(requestFrom(again, files, model, probe)).toEqual(request);
    expect(requestFrom(named, files.slice(0, 2), model, probe).sampleDetails).not.toHaveProperty('/d/c.fa');
  });
});

describe('the advice on models', () => {
  const typical = (length: number, sequences = 100): ListedFile => ({
    path: `/${length}.fa`,
    inspected: { ...madeInspection('/a.fa'), sequences, judged: judgedAt(length, sequences) },
  });
  /** About what is judged of sequences of this length; chunks of 300 bp judge those of 500 bp half more often. */
  const judgedAt = (length: number, sequences: number): InspectedFile['judged'] =>
    Object.fromEntries(
      Object.entries({ '500': 500, '300': 300, '500+300': 300 }).map(([look, shortest]) => {
        const share = length > 2000 || length < 300 ? 0.9 : look === '500' ? 0.5 : 0.8;
        const shorter = length < shortest ? sequences : 0;
        const judged = Math.round(share * sequences);
        return [
          look,
          { sequences: judged, bases: 0, shorter, chunks: sequences, frames: sequences, residues: 0 },
        ];
      }),
    );

  it.each([
    ['contigs', [typical(2400)], '500'],
    ['as long as a chunk', [typical(500)], '500+300'],
    ['short contigs', [typical(420)], '500+300'],
    ['reads of 150', [typical(150)], '300'],
    ['mostly reads', [typical(150, 9000), typical(2400, 50)], '300'],
  ])('%s', (_, files, look) => {
    expect(adviseLook(files, MODELS)?.look).toBe(look);
  });

  it('ignores files that cannot be used', () => {
    const proteins = {
      ...typical(250),
      inspected: { ...madeInspection('/proteins.faa'), sequences: 900, judged: judgedAt(250, 900) },
    };
    expect(verdictOf(proteins)).toBe('blocked');
    expect(adviseLook([typical(2400), proteins], MODELS)?.look).toBe('500');
  });

  it('is null if nothing is known', () => {
    expect(adviseLook([], MODELS)).toBeNull();
    expect(adviseLook([{ path: '/a', inspected: null }], MODELS)).toBeNull();
    expect(adviseLook([typical(150)], [])).toBeNull();
  });

  it('is a remark beside a file that has only short sequences, which is still used', () => {
    const file = madeInspection('/reads.fa');
    const allShort = { ...file, judged: judgedAt(150, file.sequences) };
    expect(verdictOf({ path: file.path, inspected: file })).toBe('ready');
    expect(verdictOf({ path: file.path, inspected: allShort })).toBe('warning');
  });
});

describe('choices', () => {
  it('exclude GPUs that cannot be used', () => {
    expect(chosenGpus(RUN_REQUEST_DEFAULTS, probe).map((gpu) => gpu.index)).toEqual([0, 1, 2, 4, 5, 6, 7]);
    expect(devicesText(RUN_REQUEST_DEFAULTS, probe)).toBe('auto');
  });

  it('use the slices of a GPU in MIG mode, or the processor if it has none, as the engine does', () => {
    const [gpu] = probe.gpus;
    if (!gpu) throw new Error('The test needs a GPU');
    const whole = { ...gpu, mig_enabled: true };
    const slice = { ...whole, uuid: 'MIG-1', parent_uuid: whole.uuid };
    const [cut, uncut] = [[whole, slice], [whole]].map((gpus) => ({ ...probe, gpus }));
    expect(chosenGpus(RUN_REQUEST_DEFAULTS, cut ?? null)).toEqual([slice]);
    expect(chosenGpus(RUN_REQUEST_DEFAULTS, uncut ?? null)).toEqual([]);
    expect(expectsGpus(RUN_REQUEST_DEFAULTS, uncut ?? null)).toBe(false);
    expect(devicesText({ ...RUN_REQUEST_DEFAULTS, cpuWorkers: 3 }, uncut ?? null)).toBe('cpu:3');
  });

  it('become a request that leads back to the same choices', () => {
    const uuids = probe.gpus.filter((gpu) => gpu.visible).map((gpu) => gpu.uuid);
    fc.assert(
      fc.property(
        fc.record({
          name: fc.constantFrom('', 'My run'),
          samples: fc.constantFrom({}, { '/a.fa': 'Gut' }),
          gpuUuids: fc.option(fc.shuffledSubarray(uuids, { minLength: 1 })),
          precision: fc.constantFrom('auto' as const, 'fp32' as const, 'fp8' as const),
          embeddings: fc.constantFrom(null, 'fp16' as const),
          secondChunkLength: fc.constantFrom(null, 300, 150),
          minLength: fc.constantFrom(null, 500),
          geneticCode: fc.constantFrom(null, 4, 15),
          keepWork: fc.boolean(),
          embedEqualSequencesOnce: fc.boolean(),
          gpuMemoryGb: fc.option(fc.integer({ min: 20, max: 1_400 }).map((tenths) => tenths / 10)),
          tokensPerBatch: fc.option(fc.integer({ min: 256, max: 65_536 })),
        }),
        (chosen) => {
          const choices = { ...RUN_REQUEST_DEFAULTS, model: '500', ...chosen };
          const request = runRequestSchema.parse(requestFrom(choices, [listed('/a.fa')], model, probe));
          const again = requestFrom(choicesFrom(request), [listed('/a.fa')], model, probe);
          expect(runRequestSchema.parse(again)).toEqual(request);
        },
      ),
    );
  });

  it('name samples, and request only names that the file names do not yield', () => {
    const files = ['/d/a_R1.fq', '/d/a_R2.fq', '/d/b.fq', '/d/c.fq'].map(listed);
    expect(samplesOfFiles(RUN_REQUEST_DEFAULTS, files)).toEqual(['a', 'a', 'b', 'c']);
    useNewRun.setState({ files, choices: RUN_REQUEST_DEFAULTS });
    nameSamples(['a', 'a', 'pool', 'pool'].map((sample) => ({ ...NO_DETAILS, sample })));
    const { choices } = useNewRun.getState();
    expect(samplesOfFiles(choices, files)).toEqual(['a', 'a', 'pool', 'pool']);
    expect(requestFrom(choices, files, model, probe).samples).toEqual({
      '/d/b.fq': 'pool',
      '/d/c.fq': 'pool',
    });
    expect(requestFrom(choices, files.slice(0, 2), model, probe)).not.toHaveProperty('samples');
    nameSamples(null);
    expect(useNewRun.getState().choices.samples).toEqual({});
  });

  it('return to the advanced defaults without touching other settings, and apply the goal to one run only', () => {
    const advanced = {
      precision: 'fp32',
      keepWork: true,
      until: { kind: 'half_width', share: 0.1 },
    } as const;
    const kept = {
      ...RUN_REQUEST_DEFAULTS,
      sheet: { name: 'samples.csv', rows: [] },
      samples: { '/d/a.fa': 'gut' },
      repairs: ['read_u_as_t'],
      where: { kind: 'ray', address: 'head:6379', shares: 2, cpus: 0, workers: 0 },
    } as const;
    useNewRun.setState({ choices: { ...kept, ...advanced } });
    choose(ADVANCED_DEFAULTS);
    expect(useNewRun.getState().choices).toEqual(kept);
    choose(advanced);
    startOver();
    expect(useNewRun.getState().choices).toMatchObject({ until: null, precision: 'fp32' });
  });

  it('select an installed model, the advised one first, and the teaching model only if the user chooses it', () => {
    expect(chosenModel(RUN_REQUEST_DEFAULTS, MODELS)?.id).toBe('500');
    const both = MODELS.map((entry) => ({ ...entry, present: true }));
    expect(chosenModel(RUN_REQUEST_DEFAULTS, both, '300')?.id).toBe('300');
    expect(chosenModel(RUN_REQUEST_DEFAULTS, MODELS, '300')?.id).toBe('500');
    const absent = MODELS.map((entry) => ({ ...entry, present: entry.id === 'teaching' }));
    expect(chosenModel(RUN_REQUEST_DEFAULTS, absent)).toBeNull();
    expect(chosenModel({ ...RUN_REQUEST_DEFAULTS, model: 'teaching' }, absent)?.id).toBe('teaching');
    expect(chosenModel({ ...RUN_REQUEST_DEFAULTS, model: '300' }, MODELS)?.id).toBe('300');
    expect(chosenModel(RUN_REQUEST_DEFAULTS, [])).toBeNull();
  });
});

describe('a second look', () => {
  const [published, other, imported] = ['500', '300', '/data/weights/Gut phages'].map((id) =>
    MODELS.find((entry) => entry.id === id),
  ) as [ModelStatus, ModelStatus, ModelStatus];

  it('needs the other published model only beside a published one', () => {
    expect(secondLookOf(published, MODELS)).toEqual({ length: 300, missing: other });
    expect(secondLookOf(imported, MODELS)).toEqual({ length: 300, missing: null });
    const both = MODELS.map((entry) => ({ ...entry, present: true }));
    expect(secondLookOf(published, both)).toEqual({ length: 300, missing: null });
    expect(secondLookOf(other, both)).toBeNull();
  });

  it('is requested only where its chunks are shorter, and at least half as long', () => {
    const asked = (chunkLength: number) =>
      requestFrom(
        { ...RUN_REQUEST_DEFAULTS, secondChunkLength: 300 },
        [],
        { ...published, chunkLength },
        null,
      ).secondChunkLength;
    expect([300, 400, 600, 700].map(asked)).toEqual([undefined, 300, 300, undefined]);
  });
});
