import { implement } from '@orpc/server';
import { appError, contract, type RunFile } from '../../../../electron/contract/index.ts';
import { madeInspection } from '../computer.ts';
import { madeLive } from '../live.ts';
import { pause, watched } from '../steps.ts';
import { madeRun, NOTHING_FAILED } from '../runs.ts';
import type { StoredRuns } from '../storedRuns.ts';
import { isAtWork, type World } from '../world.ts';

const MADE_FILES: RunFile[] = [
  { name: 'chunks.tsv', bytes: 412_000_000 },
  { name: 'run.json', bytes: 48_200 },
  { name: 'sequences.tsv', bytes: 18_400_000 },
  { name: 'viral_sequences.fna', bytes: 39_100_000 },
];

export function runsRouter(world: World, stored: StoredRuns) {
  const { runs } = implement(contract);
  return {
    watchAll: runs.watchAll.handler(({ signal }) => watched(() => world.runs, signal)),
    inspect: runs.inspect.handler(async function* ({ input }) {
      const found = input.paths.flatMap((path) =>
        /\.\w+$/.test(path)
          ? [path]
          : [`${path}/sample_A.fasta.gz`, `${path}/sample_B.fasta.gz`, `${path}/truncated.fa.gz`],
      );
      const someIgnored = found.length > input.paths.length ? [`${input.paths[0] ?? ''}/notes.docx`] : [];
      yield { type: 'found' as const, paths: found, ignored: someIgnored.length, someIgnored };
      for (const path of found) {
        await pause(30);
        yield madeInspection(path);
      }
    }),
    estimate: runs.estimate.handler(({ input }) => ({
      computation: {
        precision: input.request.precision === 'auto' ? 'bf16' : input.request.precision,
        tokensPerBatch: input.request.tokensPerBatch ?? 24_576,
        residuesPerPart: input.request.residuesPerPart ?? 262_144,
        order: input.request.order ?? 'sample',
        devices: [{ name: 'NVIDIA H200', count: world.devices.length }],
      },
      ...(input.request.model === '300' && !world.speedIsMeasured
        ? { seconds: null, basis: null }
        : {
            seconds:
              input.request.precision === 'fp32'
                ? { low: 180_000, high: 260_000 }
                : { low: 1260, high: 1980 },
            basis: {
              runs: input.request.model === '300' ? null : 3,
              measuredAt: new Date(world.openedAt).toISOString(),
            },
          }),
      diskBytes: input.residues * 8,
      diskFreeBytes: 41_000_000_000,
      outputDir:
        input.request.outputDir ?? `/data/projects/soil-2026/${input.request.name ?? 'sample_A_predictions'}`,
      blocker: input.request.outputDir?.includes('full')
        ? appError('disk_full', 'The run needs 3 GB, but only 1 GB is free there.')
        : null,
    })),
    create: runs.create.handler(({ input }) => {
      const runId = crypto.randomUUID();
      const run = madeRun(
        {
          runId,
          name: input.name ?? 'New run',
          state: { phase: 'created' },
          hoursAgo: 0,
          inputs: input.inputs.map((path) => path.split('/').at(-1) ?? path),
          more: { queuePosition: world.runs.filter((run) => run.queuePosition !== null).length },
        },
        Date.now(),
      );
      const samples = run.samples.map((name, index) => input.samples?.[input.inputs[index] ?? ''] ?? name);
      world.add({
        ...run,
        samples,
        request: { ...run.request, model: input.model, inputs: input.inputs, where: input.where },
      });
      return { runId };
    }),
    watch: runs.watch.handler(async function* ({ input, signal, errors }) {
      if (!world.has(input.runId))
        throw errors.APP({ data: appError('folder_gone', 'This run is not known on this computer.') });
      let last = '';
      while (!signal?.aborted) {
        world.tick += 1;
        const live = await madeLive(world, stored, world.find(input.runId));
        const text = isAtWork(live.run) ? String(world.tick) : JSON.stringify(live.run);
        if (text !== last) yield live;
        last = text;
        await pause(1000 / world.snapshotsPerSecond, signal);
      }
    }),
    files: runs.files.handler(({ input }) =>
      world.find(input.runId).state.phase === 'done' ? MADE_FILES : [],
    ),
    pause: runs.pause.handler(({ input }) =>
      world.change(input.runId, { state: { phase: 'paused', error: null } }),
    ),
    resume: runs.resume.handler(({ input: { runId, devices } }) => {
      const { request } = world.find(runId);
      world.change(runId, {
        state: { phase: 'running' },
        interrupted: false,
        ...(devices === undefined ? {} : { request: { ...request, devices } }),
      });
    }),
    cancel: runs.cancel.handler(({ input }) =>
      world.change(input.runId, { state: { phase: 'cancelled' }, queuePosition: null }),
    ),
    settleInput: runs.settleInput.handler(({ input: { runId } }) => {
      const { state } = world.find(runId);
      if (state.phase === 'done')
        world.change(runId, { state: { ...state, failedInputs: (state.failedInputs ?? 1) - 1 } });
    }),
    finishNow: runs.finishNow.handler(({ input }) =>
      world.change(input.runId, {
        state: NOTHING_FAILED,
        interrupted: false,
      }),
    ),
    folderSize: runs.folderSize.handler(() => ({
      bytes: 1_840_000_000,
      files: 1462,
    })),
    remove: runs.remove.handler(({ input }) => {
      world.remove(input.runId);
    }),
    verify: runs.verify.handler(() => ({
      sound: false,
      files: [
        { kind: 'database', path: 'run.db', verdict: 'sound', detail: null },
        {
          kind: 'result',
          path: 'chunks.tsv',
          verdict: 'damaged',
          detail: 'It is not the file that was written.',
        },
        { kind: 'result', path: 'sequences.tsv', verdict: 'sound', detail: null },
      ],
    })),
    readLog: runs.readLog.handler(({ input }) => ({
      text: Array.from({ length: 120 }, (_, line) => `INFO ${input.path}, part ${line} took 6.4 s`).join(
        '\n',
      ),
      truncated: false,
    })),
  };
}
