import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appError, runRequestSchema } from '../../../electron/contract/index.ts';
import { madeInspection, madeProbe, MODELS } from '../../testing/memoryEngine/computer.ts';
import {
  choicesFrom,
  chosenGpus,
  chosenModel,
  devicesText,
  requestFrom,
  RUN_REQUEST_DEFAULTS,
} from './choices.ts';
import { repeatedFiles, totalsOf, verdictOf, withFiles, type ListedFile } from './inspection.ts';
import { lengthBins } from './lengthBins.ts';
import { canQuickLook, PRESET_IDS, presetOf, PRESETS } from './presets.ts';
import { startReasons } from './startReasons.ts';

const listed = (path: string): ListedFile => ({ path, inspected: madeInspection(path, 500) });
const probe = madeProbe(8);
const [model] = MODELS;
if (!model) throw new Error('The test needs a model');

describe('why the Start button cannot be pressed', () => {
  const ready = {
    connection: 'connected' as const,
    files: [listed('/a.fasta')],
    uploads: 0,
    looking: false,
    model,
    chosenGpus: 2,
    estimate: null,
  };
  const codes = (change: Partial<Parameters<typeof startReasons>[0]>) =>
    startReasons({ ...ready, ...change }).map((reason) => reason.code);

  it('has no reason when all is well, with GPUs or without any', () => {
    expect(codes({})).toEqual([]);
    expect(codes({ chosenGpus: null })).toEqual([]);
  });

  it.each([
    [{ connection: 'lost' as const }, ['not_connected']],
    [{ files: [] }, ['no_files']],
    [{ files: [], uploads: 1 }, ['uploading']],
    [{ files: [], looking: true }, ['looking']],
    [{ files: [{ path: '/b.fa', inspected: null }], looking: true }, ['looking']],
    [{ files: [listed('/a.fasta'), listed('/truncated.fa.gz')] }, ['blocked_files']],
    [{ model: { ...model, present: false } }, ['model_missing']],
    [{ model: { ...model, present: false, problem: appError('model_damaged', 'x') } }, ['model_damaged']],
    [{ chosenGpus: 0 }, ['no_device']],
    [{ connection: 'lost' as const, files: [] }, ['not_connected', 'no_files']],
  ])('%j', (change, expected) => {
    expect(codes(change)).toEqual(expected);
  });

  it('passes the engine’s objection on, but not in place of a plainer one', () => {
    const blocker = appError('disk_full', 'full');
    const estimate = { seconds: null, basis: '', diskBytes: 1, diskFreeBytes: 0, outputDir: '/x', blocker };
    expect(startReasons({ ...ready, estimate })).toEqual([{ code: 'engine', error: blocker }]);
    expect(codes({ estimate, files: [] })).toEqual(['no_files']);
  });
});

describe('the list of files', () => {
  it('holds each file once, in the order in which they came, however often they are found', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.constantFrom('/a', '/b', '/c', '/d'))), (batches) => {
        let files: readonly ListedFile[] = [];
        for (const batch of batches) files = withFiles(files, batch);
        expect(files.map((file) => file.path)).toEqual([...new Set(batches.flat())]);
      }),
    );
  });

  it('puts an inspection in its file’s place', () => {
    const files = withFiles(withFiles([], ['/a.fa', '/b.fa']), [], madeInspection('/b.fa', 500));
    expect(files.map(verdictOf)).toEqual(['looking', 'ready']);
    expect(totalsOf(files)).toMatchObject({ files: 2, sequences: 27_734 });
  });

  it('finds files with the same content', () => {
    const twin = { path: '/copy.fa', inspected: { ...madeInspection('/a.fa', 500), path: '/copy.fa' } };
    expect([...repeatedFiles([listed('/a.fa'), listed('/b.fa'), twin])]).toEqual([['/copy.fa', '/a.fa']]);
  });
});

describe('the histogram of lengths', () => {
  it('loses no sequence and shows at most one empty bin at either end', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 60 }), (counts) => {
        const bins = lengthBins({
          length_histogram: counts,
          length_bin_edges: counts.map((_, index) => index),
          max_length: counts.length,
        });
        const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
        expect(sum(bins.map((bin) => bin.count))).toBe(sum(counts));
        if (bins.length === 0) return;
        expect(bins.slice(0, 2).some((bin) => bin.count > 0)).toBe(true);
        expect(bins.slice(-2).some((bin) => bin.count > 0)).toBe(true);
      }),
    );
  });
});

describe('choices', () => {
  it('leave out GPUs that cannot be used', () => {
    expect(chosenGpus(RUN_REQUEST_DEFAULTS, probe).map((gpu) => gpu.index)).toEqual([0, 1, 2, 4, 5, 6, 7]);
    expect(devicesText(RUN_REQUEST_DEFAULTS, probe)).toBe('auto');
  });

  it('become a request that leads back to the same choices', () => {
    const uuids = probe.gpus.filter((gpu) => gpu.visible).map((gpu) => gpu.uuid);
    fc.assert(
      fc.property(
        fc.record({
          name: fc.constantFrom('', 'My run'),
          gpuUuids: fc.option(fc.shuffledSubarray(uuids, { minLength: 1 })),
          precision: fc.constantFrom('auto' as const, 'fp32' as const, 'fp8' as const),
          embeddings: fc.constantFrom(null, 'fp16' as const),
          keepWork: fc.boolean(),
          embedEqualSequencesOnce: fc.boolean(),
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

  it('prefer a model that is here, and the demo only if nothing else is', () => {
    expect(chosenModel(RUN_REQUEST_DEFAULTS, MODELS)?.id).toBe('500');
    const absent = MODELS.map((entry) => ({ ...entry, present: entry.id === 'demo' }));
    expect(chosenModel(RUN_REQUEST_DEFAULTS, absent)?.id).toBe('demo');
    expect(chosenModel({ ...RUN_REQUEST_DEFAULTS, model: '300' }, MODELS)?.id).toBe('300');
    expect(chosenModel(RUN_REQUEST_DEFAULTS, [])).toBeNull();
  });
});

describe('presets', () => {
  it.each(PRESET_IDS)('%s is recognised from its settings', (id) => {
    expect(presetOf(PRESETS[id])).toBe(id);
  });

  it('offers the quick look only where every GPU can do it', () => {
    const gpu = (major: number, minor: number) => ({
      compute_capability: [major, minor] as [number, number],
    });
    expect(canQuickLook([gpu(9, 0), gpu(8, 9)])).toBe(true);
    expect(canQuickLook([gpu(9, 0), gpu(8, 6)])).toBe(false);
    expect(canQuickLook([])).toBe(false);
  });
});
