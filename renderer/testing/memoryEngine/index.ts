import { implement } from '@orpc/server';
import {
  appError,
  contract,
  settingsSchema,
  type RunLive,
  type RunSummary,
  type SequenceResult,
} from '../../../electron/contract/index.ts';
import { CHECKS, DIAGNOSTICS, madeInspection, madeProbe, MODELS } from './computer.ts';
import { madeDevices, madeEvents, madeInputs, madeRun, madeRuns, madeShards, RUN_IDS } from './runs.ts';
import { filteredSequences, madeChunks, madeSequences, sortedSequences } from './sequences.ts';

export interface MemoryEngineOptions {
  readonly runs?: 'none' | 'many';
  readonly sequences?: number;
  readonly devices?: number;
  readonly snapshotsPerSecond?: number;
  readonly welcomeSeen?: boolean;
}

const pause = (milliseconds: number, signal?: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/**
 * The contract without an engine: an invented world held in memory, for tests of the window and for measuring it. It
 * never ships. What it answers is made up; that it answers in the contract's form is checked by the contract's schemas.
 */
export function createMemoryEngine(options: MemoryEngineOptions = {}) {
  const { sequences: sequenceCount = 20_000, devices: deviceCount = 8, snapshotsPerSecond = 4 } = options;
  const now = Date.now();
  let runs: RunSummary[] = options.runs === 'none' ? [] : madeRuns(now);
  let settings = { ...settingsSchema.parse({}), welcomeSeen: options.welcomeSeen ?? true };
  const devices = madeDevices(deviceCount);
  const listeners = new Set<() => void>();
  const sequencesByRun = new Map<string, SequenceResult[]>();
  let tick = 0;

  const changeRun = (runId: string, change: Partial<RunSummary>) => {
    runs = runs.map((run) => (run.runId === runId ? { ...run, ...change } : run));
    for (const listener of listeners) listener();
  };
  const findRun = (runId: string) => {
    const run = runs.find((candidate) => candidate.runId === runId);
    if (!run) throw new Error(`There is no run ${runId}`);
    return run;
  };
  const isAtWork = (run: RunSummary) => run.state.phase === 'running' && !run.interrupted;
  const sequencesOf = (run: RunSummary) => {
    const count =
      run.state.phase === 'done'
        ? run.plan.model.notice === null
          ? sequenceCount
          : 200
        : isAtWork(run)
          ? 4000
          : 0;
    let sequences = sequencesByRun.get(run.runId);
    if (!sequences) {
      sequences = madeSequences(count, run.plan.inputs.length, 3);
      sequencesByRun.set(run.runId, sequences);
    }
    return sequences;
  };

  const snapshot = (runId: string): RunLive => {
    const run = findRun(runId);
    const atWork = isAtWork(run);
    const ended = run.state.phase === 'done';
    const failed = run.state.phase === 'done' ? run.state.failedShards : atWork ? 1 : 0;
    const fraction = ended ? 1 : atWork ? Math.min(0.99, 0.42 + tick / 40_000) : (run.fraction ?? 0);
    const wave = (index: number) => Math.sin(tick / 19 + index * 1.7);
    return {
      run: { ...run, fraction },
      progress: {
        prepare: {
          finished: ended || fraction > 0.6,
          bytesRead: ended ? 200_000_000 : 148_000_000,
          bytesTotal: 200_000_000,
          records: 74_210,
          bases: 93_400_000,
          frames: 561_000,
        },
        shards: {
          total: 480,
          done: Math.floor(480 * fraction) - failed,
          failed,
          inWork: atWork ? deviceCount : 0,
        },
        frames: { total: 754_000, done: Math.floor(754_000 * fraction) },
        residues: { total: 125_829_120, done: Math.floor(125_829_120 * fraction) },
        inputs: { total: run.plan.inputs.length, done: ended ? run.plan.inputs.length : 1, failed: 0 },
        fraction,
        elapsedSeconds: ended ? 2520 : 2160 + tick / 4,
        remainingSeconds: atWork ? { low: 2700, high: 3300 } : null,
        tokensPerSecond: atWork ? deviceCount * 41_000 + wave(0) * 3000 : null,
      },
      devices: devices.map((device, index) => ({
        ...device,
        worker: worker(index, atWork),
        shardFraction: atWork ? (tick / 40 + index * 0.13) % 1 : null,
        tokensPerSecond: atWork && index !== 5 && index !== 6 ? 41_000 + wave(index) * 2400 : null,
        framesPerSecond: atWork && index !== 5 && index !== 6 ? 245 + wave(index) * 14 : null,
        utilizationPercent: atWork ? 95 + Math.round(wave(index) * 4) : 0,
        temperatureC: 61 + Math.round(wave(index) * 3),
        powerW: 412 + Math.round(wave(index) * 25),
      })),
      recentEvents: madeEvents(now),
    };
  };
  const excluded = new Set<number>([6]);
  const worker = (index: number, atWork: boolean): RunLive['devices'][number]['worker'] => {
    if (!atWork) return { state: 'stopped' };
    if (excluded.has(index)) return { state: 'excluded' };
    if (index === 5)
      return {
        state: 'restarting',
        attempt: 2,
        error: appError('worker_died', 'It ended without saying why (signal 9).'),
      };
    return {
      state: 'working',
      shard: String(200 + ((index + Math.floor(tick / 40)) % 280)).padStart(6, '0'),
    };
  };

  const os = implement(contract);
  const router = os.router({
    runs: {
      watchAll: os.runs.watchAll.handler(async function* ({ signal }) {
        let changed = true;
        const wake = () => (changed = true);
        listeners.add(wake);
        try {
          while (!signal?.aborted) {
            if (changed) yield runs;
            changed = false;
            await pause(100, signal);
          }
        } finally {
          listeners.delete(wake);
        }
      }),
      inspect: os.runs.inspect.handler(async function* ({ input }) {
        const paths = input.paths.flatMap((path) =>
          /\.\w+$/.test(path)
            ? [path]
            : [`${path}/sample_A.fasta.gz`, `${path}/sample_B.fasta.gz`, `${path}/truncated.fa.gz`],
        );
        yield { type: 'found' as const, paths, ignored: paths.length > input.paths.length ? 4 : 0 };
        for (const path of paths) {
          await pause(30);
          yield madeInspection(path, input.chunkLength);
        }
      }),
      estimate: os.runs.estimate.handler(({ input }) => ({
        seconds: input.request.model === '300' ? null : { low: 1260, high: 1980 },
        basis:
          input.request.model === '300'
            ? 'No run with this model on this computer yet.'
            : 'From the last run with this model on these GPUs.',
        diskBytes: input.bases * 4,
        diskFreeBytes: 41_000_000_000,
        outputDir: input.request.outputDir ?? '/data/projects/soil-2026/sample_A_predictions',
        blocker: input.request.outputDir?.includes('full')
          ? appError('disk_full', 'The run needs 3 GB, but only 1 GB is free there.')
          : null,
      })),
      create: os.runs.create.handler(({ input }) => {
        const runId = crypto.randomUUID();
        const run = madeRun(
          {
            runId,
            name: input.name ?? 'New run',
            state: { phase: 'created' },
            hoursAgo: 0,
            more: { queuePosition: 2 },
          },
          Date.now(),
        );
        runs = [run, ...runs];
        changeRun(runId, {});
        return { runId };
      }),
      runExample: os.runs.runExample.handler(() => ({ runId: RUN_IDS.demo })),
      checkExample: os.runs.checkExample.handler(() => ({
        matches: true,
        compared: 214,
        message: 'All scores agree.',
      })),
      open: os.runs.open.handler(({ input, errors }) => {
        if (!input.folder.includes('predictions'))
          throw errors.APP({ data: appError('folder_not_a_run', `${input.folder} holds no run.`) });
        return { runId: RUN_IDS.done };
      }),
      watch: os.runs.watch.handler(async function* ({ input, signal, errors }) {
        if (!runs.some((run) => run.runId === input.runId))
          throw errors.APP({ data: appError('folder_gone', 'This run is not known on this computer.') });
        let last = '';
        while (!signal?.aborted) {
          tick += 1;
          const live = snapshot(input.runId);
          const text = isAtWork(live.run) ? String(tick) : JSON.stringify(live.run);
          if (text !== last) yield live;
          last = text;
          await pause(1000 / snapshotsPerSecond, signal);
        }
      }),
      throughput: os.runs.throughput.handler(({ input }) => {
        const run = findRun(input.runId);
        const end = Date.now() / 1000;
        return Array.from({ length: 216 }, (_, index) => ({
          time: end - (216 - index) * 10,
          tokensPerSecond: Object.fromEntries(
            devices
              .slice(0, run.plan.model.notice === null ? deviceCount : 1)
              .map((device, position) => [
                device.id,
                (index < 3 ? index * 12_000 : 41_000) + Math.sin(index / 9 + position) * 2600,
              ]),
          ),
        }));
      }),
      events: os.runs.events.handler(({ input }) =>
        madeEvents(now).filter((event) => input.beforeId === undefined || event.id < input.beforeId),
      ),
      inputs: os.runs.inputs.handler(({ input }) => {
        const run = findRun(input.runId);
        const all = madeInputs(run, isAtWork(run));
        return { total: all.length, items: all.slice(input.offset, input.offset + input.limit) };
      }),
      shards: os.runs.shards.handler(({ input }) => {
        const run = findRun(input.runId);
        const perInput = Math.ceil(480 / run.plan.inputs.length);
        const all = madeShards(run, isAtWork(run)).filter(
          (shard, index) =>
            (input.state === undefined || shard.state === input.state) &&
            (input.input === undefined || Math.floor(index / perInput) === input.input),
        );
        return { total: all.length, items: all.slice(input.offset, input.offset + input.limit) };
      }),
      pause: os.runs.pause.handler(({ input }) =>
        changeRun(input.runId, { state: { phase: 'paused', error: null } }),
      ),
      drain: os.runs.drain.handler(({ input }) => changeRun(input.runId, { state: { phase: 'draining' } })),
      resume: os.runs.resume.handler(({ input }) =>
        changeRun(input.runId, { state: { phase: 'running' }, interrupted: false }),
      ),
      stop: os.runs.stop.handler(({ input }) =>
        changeRun(input.runId, { state: { phase: 'paused', error: null } }),
      ),
      cancel: os.runs.cancel.handler(({ input }) =>
        changeRun(input.runId, { state: { phase: 'cancelled' }, queuePosition: null }),
      ),
      retry: os.runs.retry.handler(({ input }) =>
        changeRun(input.runId, { state: { phase: 'done', failedShards: 0, failedRecords: 0 } }),
      ),
      skip: os.runs.skip.handler(() => undefined),
      includeDevice: os.runs.includeDevice.handler(({ input }) => {
        const index = devices.findIndex((device) => device.id === input.device);
        if (input.included) excluded.delete(index);
        else excluded.add(index);
      }),
      moveInQueue: os.runs.moveInQueue.handler(({ input }) => {
        const moved = findRun(input.runId);
        const from = moved.queuePosition ?? 0;
        runs = runs.map((run) =>
          run.runId !== input.runId && run.queuePosition === input.position
            ? { ...run, queuePosition: from }
            : run,
        );
        changeRun(input.runId, { queuePosition: input.position });
      }),
      rename: os.runs.rename.handler(({ input }) => changeRun(input.runId, { name: input.name })),
      folderSize: os.runs.folderSize.handler(() => ({ bytes: 1_840_000_000, files: 1462 })),
      remove: os.runs.remove.handler(({ input }) => {
        runs = runs.filter((run) => run.runId !== input.runId);
        for (const listener of listeners) listener();
      }),
      readLog: os.runs.readLog.handler(() => ({
        text: Array.from(
          { length: 120 },
          (_, line) =>
            `12:${String(line % 60).padStart(2, '0')} INFO shard ${line} of device 2 took ${(6 + (line % 7) / 10).toFixed(1)} s`,
        ).join('\n'),
        truncated: false,
      })),
    },
    results: {
      page: os.results.page.handler(({ input }) => {
        const all = sortedSequences(
          filteredSequences(sequencesOf(findRun(input.runId)), input.filter),
          input.sort,
        );
        return { total: all.length, items: all.slice(input.offset, input.offset + input.limit) };
      }),
      counts: os.results.counts.handler(({ input }) => {
        const rows = filteredSequences(sequencesOf(findRun(input.runId)), input.filter);
        const count = (prediction: SequenceResult['prediction']) =>
          rows.filter((row) => row.prediction === prediction).length;
        return {
          total: rows.length,
          virus: count('virus'),
          others: count('others'),
          notScored: count('not_scored'),
          failed: count('failed'),
        };
      }),
      histogram: os.results.histogram.handler(({ input }) => {
        const bins = Array.from({ length: input.bins }, () => 0);
        for (const row of filteredSequences(sequencesOf(findRun(input.runId)), input.filter)) {
          if (row.virusScore === null) continue;
          const bin = Math.min(input.bins - 1, Math.floor(row.virusScore * input.bins));
          bins[bin] = (bins[bin] ?? 0) + 1;
        }
        return { bins };
      }),
      chunks: os.results.chunks.handler(({ input, errors }) => {
        const sequence = sequencesOf(findRun(input.runId))[input.row];
        if (!sequence) throw errors.APP({ data: appError('internal', 'There is no such sequence.') });
        return { sequence, chunks: madeChunks(sequence) };
      }),
      export: os.results.export.handler(({ input }) => ({
        path: input.path ?? '/tmp/export.tsv',
        downloadPath: null,
        sequences: filteredSequences(sequencesOf(findRun(input.runId)), input.filter).length,
        bytes: 123_456,
      })),
    },
    computer: {
      info: os.computer.info.handler(() => ({
        version: '0.1.0',
        shell: 'browser' as const,
        platform: 'linux',
        dataDir: '/data/results',
        root: '/data',
      })),
      devices: os.computer.devices.handler(() => madeProbe(deviceCount)),
      models: os.computer.models.handler(() => MODELS),
      check: os.computer.check.handler(async function* () {
        yield CHECKS.map((check) => ({ ...check, status: 'checking' as const, sentence: '…', action: null }));
        await pause(150);
        yield CHECKS;
      }),
      repairPython: os.computer.repairPython.handler(() =>
        steps(['Looking for Python', 'Getting PyTorch', 'Checking']),
      ),
      getWeights: os.computer.getWeights.handler(() =>
        steps(['Fetching ESM-2', 'Fetching DNABERT-S', 'Converting', 'Checking']),
      ),
      diagnostics: os.computer.diagnostics.handler(() => ({ text: DIAGNOSTICS })),
      settings: os.computer.settings.handler(() => settings),
      changeSettings: os.computer.changeSettings.handler(({ input }) => {
        const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
        settings = settingsSchema.parse({ ...settings, ...given });
        return settings;
      }),
      browse: os.computer.browse.handler(({ input }) => {
        const folder = input.folder ?? '/data';
        return {
          folder,
          parent: folder === '/data' ? null : '/data',
          entries: [
            { name: 'soil-2026', path: `${folder}/soil-2026`, isFolder: true, sizeBytes: null },
            {
              name: 'contigs.fasta',
              path: `${folder}/contigs.fasta`,
              isFolder: false,
              sizeBytes: 48_200_000,
            },
            {
              name: 'reads.fastq.gz',
              path: `${folder}/reads.fastq.gz`,
              isFolder: false,
              sizeBytes: 1_900_000_000,
            },
          ],
        };
      }),
    },
    shell: {
      chooseFiles: os.shell.chooseFiles.handler(() => ({ paths: [] })),
      chooseFolder: os.shell.chooseFolder.handler(() => ({ path: null })),
      chooseSaveFile: os.shell.chooseSaveFile.handler(() => ({ path: null })),
      grantPaths: os.shell.grantPaths.handler(() => undefined),
      revealInFolder: os.shell.revealInFolder.handler(() => undefined),
      copyText: os.shell.copyText.handler(() => undefined),
      openExternal: os.shell.openExternal.handler(() => undefined),
    },
  });
  return { router, changeRun, runs: () => runs };
}

async function* steps(names: readonly string[]) {
  for (const [index, step] of names.entries()) {
    for (const fraction of [0, 0.4, 0.8, 1]) {
      const isLast = index === names.length - 1 && fraction === 1;
      yield {
        step,
        stepNumber: index + 1,
        stepCount: names.length,
        fraction,
        line: `${step}: ${Math.round(fraction * 100)} %`,
        finished: isLast,
        error: null,
      };
      await pause(120);
    }
  }
}
