/**
 * Runs on GPUs that this computer does not have: the processor computes, while capability and memory are
 * simulated.
 */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { TOKENS_PER_BATCH } from '../../contract/plan.ts';
import { runRequestSchema, type RunRequestInput } from '../../contract/rpc/runs.ts';
import type { ProbeResult } from '../../contract/protocol/index.ts';
import { A100_AND_TURING } from '../devices/testing/probeExamples.ts';
import type { EngineContext } from './engineContext.ts';
import { SAMPLE, temporaryFolder, testContext, WITHOUT_PYTHON } from '../testing/testContext.ts';
import type { PythonEnvironmentManager } from '../service/computer/pythonEnvironmentManager.ts';
import { estimateRun } from '../service/questions/estimateRun.ts';
import type { SpeedHistory } from '../service/questions/speedHistory.ts';
import type { JsonObject } from '../store/types.ts';
import { makeRun, type Outcome, predict as predictOn, runJsonOf } from './testing/realRuns.ts';
import { type Card, cardsFile, ROOMY } from './testing/simulatedCards.ts';

const GIB = 1024 ** 3;

/** A computer with these GPUs, each with the memory of a real card. */
function computer(probe: ProbeResult, card: Card): EngineContext & { measured: () => Promise<number> } {
  const file = cardsFile(probe, card);
  return {
    ...testContext({ fault: `gpus:${file}` }),
    measured: async () =>
      (await readFile(`${file}.measured`, 'utf8').catch(() => '')).split('\n').filter(Boolean).length,
  };
}

async function predict(context: EngineContext, request: Partial<RunRequestInput> = {}) {
  const outcome = await predictOn(context, { devices: 'auto', ...request });
  expect(outcome.state).toMatchObject({ phase: 'done', failedParts: 0 });
  return { ...outcome, facts: await runJsonOf(outcome) };
}

const text = ({ notes }: Pick<Outcome, 'notes'>, code: string): string =>
  notes
    .filter((note) => note.code === code)
    .map(({ message }) => message)
    .join('\n');

let both: ReturnType<typeof predictTogether> | undefined;
/** Two GPUs that compute in FP16, which all the others here can. */
const together = () => (both ??= predictTogether());

async function predictTogether() {
  const context = computer(A100_AND_TURING, ROOMY);
  return { context, ...(await predict(context)) };
}

describe.skipIf(WITHOUT_PYTHON)('GPUs of two models', () => {
  it('compute together in a precision that both support', async () => {
    const { context, facts, tables, ...outcome } = await together();
    expect(facts.plan.precision).toBe('fp16');
    expect(facts.devices).toHaveLength(2);
    expect(facts.devices.some(({ parts }) => parts > 0)).toBe(true);
    expect(text(outcome, 'precision_of_weakest')).toMatch(
      /RTX 2080 Ti.*all devices of this run compute in FP16/,
    );
    // Both use the plan's batches, so that it does not matter which of them computes a part.
    expect(facts.counts.parts_bounded).toBe(0);
    // A GPU that may use less of its memory than there is streams its layers.
    const held = await predict(context, { devices: '1', gpuMemoryBytes: 5 * GIB });
    expect(held.facts.devices).toMatchObject([{ placement: 'streamed' }]);
    expect(held.tables).toEqual(tables);
  });

  it("are not mixed if one does not support the requested precision, or the run's own", async () => {
    const context = computer(A100_AND_TURING, ROOMY);
    const unsupported = { code: 'precision_unsupported' };
    await expect(makeRun(context, { devices: 'auto', precision: 'bf16' })).rejects.toMatchObject({
      error: unsupported,
    });
    const run = await makeRun(context, { devices: '0' });
    expect(run.record.stored.plan.precision).toBe('bf16');
    const cause = expect.stringMatching(/GPU 1 .*2080 Ti/) as string;
    expect(await run.start({ devices: '0,1' })).toMatchObject({ error: { ...unsupported, cause } });
    await run.close();
  });
});

describe.skipIf(WITHOUT_PYTHON)('FP8', () => {
  it('blocks the start, with advice, until the model has passed its check', async () => {
    const gpus = A100_AND_TURING.gpus.map((gpu) => ({
      ...gpu,
      precisions: [...gpu.precisions, 'fp8' as const],
    }));
    const context = computer({ ...A100_AND_TURING, gpus }, ROOMY);
    const request = runRequestSchema.parse({ inputs: [SAMPLE], model: 'teaching', precision: 'fp8' });
    const contents = () => Promise.resolve([]);
    const folder = temporaryFolder();
    const question = { request, chunks: 1, frames: 1, residues: 1, folder, contents };
    const environment = { context: () => Promise.resolve(context) } as unknown as PythonEnvironmentManager;
    const speeds = { seconds: () => null } as unknown as SpeedHistory;
    const { blocker } = await estimateRun(question, environment, speeds);
    expect(blocker).toMatchObject({
      code: 'precision_unsupported',
      cause: expect.stringContaining('FP8 has not been checked with this model') as string,
      nextStep: expect.stringContaining('virnucpro check precision') as string,
    });
  });
});

describe.skipIf(WITHOUT_PYTHON)('a GPU with little free memory', () => {
  const probe: ProbeResult = { ...A100_AND_TURING, gpus: A100_AND_TURING.gpus.slice(1) };

  it('streams layers, reports it, and gives the same tables', async () => {
    const whole = await together();
    const little = await predict(computer(probe, { ...ROOMY, total: 6 * GIB, free: 5 * GIB }));
    const tokensPerBatch = TOKENS_PER_BATCH.gpu;
    for (const device of whole.facts.devices)
      expect(device).toMatchObject({ placement: 'resident', tokensPerBatch });
    expect(little.facts.devices).toMatchObject([{ placement: 'streamed', tokensPerBatch }]);
    expect(little.tables).toEqual(whole.tables);
    expect(text(little, 'worker_note')).toMatch(/5\.0 of this GPU's 6\.0 GiB.*stay in main memory/);
    expect(text(whole, 'worker_note')).toBe('');
  });

  it('is measured once, and remembers what did not fit', async () => {
    const context = computer(probe, { ...ROOMY, total: 8 * GIB, free: 7 * GIB, holds: 3000 });
    const library = new Map<string, unknown>();
    const withLibrary: EngineContext = {
      ...context,
      learntBatches: {
        recall: ({ deviceUuid }) => Promise.resolve((library.get(deviceUuid) ?? null) as never),
        remember: (batch) => void library.set(batch.deviceUuid, batch),
      },
    };
    const residues = { residuesPerPart: 20_000 };
    const first = await predict(withLibrary, residues);
    expect(text(first, 'smaller_batches')).toMatch(/ran out of memory and goes on with smaller batches/);
    expect(first.facts.counts.parts_bounded).toBeGreaterThan(0);
    const [{ tokensPerBatch } = {}] = first.facts.devices as readonly JsonObject[];
    expect(tokensPerBatch).toBeLessThanOrEqual(3000);
    const second = await predict(withLibrary, residues);
    expect(text(second, 'smaller_batches')).toBe('');
    expect(text(second, 'worker_note')).toMatch(/Batches hold 2,048 tokens instead of 24,576/);
    expect(second.facts.devices).toMatchObject([{ placement: 'resident', tokensPerBatch: 2048 }]);
    expect(await context.measured()).toBe(1);
  });
});
