import { AppFailure, appError } from '../../../contract/errors.ts';
import {
  describePhase,
  describeUnusualNorms,
  type EngineContext,
  IMBALANCE,
  isRunFolder,
  runLockHolder,
  openRunStore,
  readRunReport,
  type StoredRun,
  unusualNorms,
  viralShares,
  UNUSUAL_NORMS,
  formatCount,
  formatDuration,
} from '../../../engine/index.ts';
import type { ViralShares } from '../../../contract/rpc/runs.ts';
import { isActive } from '../../../contract/runState.ts';
import { deviceLine } from '../../output/deviceLine.ts';
import { bar } from '../../output/progressText.ts';
import { shareText } from '../../output/shareText.ts';
import { toStandardOutput } from '../../output/terminal.ts';

/** How the model lies in a device's memory, where that is not as usual. */
function memoryWords({ devices, plan }: StoredRun, id: string): string {
  const { placement, tokensPerBatch } = devices.find((device) => device.id === id)?.facts ?? {};
  const smaller = typeof tokensPerBatch === 'number' && tokensPerBatch < plan.tokensPerBatch;
  return (
    (placement === 'streamed' ? ", ESM-2's layers streamed from main memory" : '') +
    (smaller ? `, batches of ${formatCount(tokensPerBatch)} tokens` : '')
  );
}

function viralLines({ run, samples }: ViralShares): string[] {
  if (run.scored === 0) return [];
  const each = samples.length < 2 ? [] : samples.map((sample) => `  ${sample.sample}: ${shareText(sample)}`);
  return [`viral so far ${shareText(run)}`, ...each];
}

/** Prints at most this many recent warnings; --json has the whole report. */
const SHOWN_REMARKS = 5;

/** Says where a run stands, also while another program works on it. */
export async function status(context: EngineContext, folder: string, json: boolean): Promise<number> {
  if (!isRunFolder(folder)) throw new AppFailure(appError('folder_not_a_run', `${folder} holds no run.db.`));
  const store = await openRunStore(folder, { hostEntry: context.storeHost, readOnly: true });
  try {
    const { run, timings, devices, uneven, remarks } = await readRunReport(store);
    const viral = await viralShares(store);
    const shown = remarks
      .filter(({ code }) => code !== IMBALANCE && code !== UNUSUAL_NORMS)
      .slice(-SHOWN_REMARKS);
    const holder = runLockHolder(folder);
    const interrupted = isActive(run.state) && holder === null;
    if (json) {
      const { state, counts, plan } = run;
      process.stdout.write(
        `${JSON.stringify({ state, interrupted, counts, plan, timings, devices, uneven, remarks, holder, viral: { run: viral.run, samples: viral.samples } })}\n`,
      );
      return 0;
    }
    const { parts, frames, repeatedProteins, repeatedNucleotides } = run.counts;
    const total = parts.pending + parts.assigned + parts.done + parts.failed + parts.skipped;
    const norms = unusualNorms(run.plan, run.counts);
    const lines = [
      `${run.description.name}: ${interrupted ? 'interrupted; go on with "virnucpro resume"' : describePhase(run.state)}`,
      `model ${run.plan.model.title}${run.plan.model.notice ? ` (${run.plan.model.notice})` : ''}, ${run.plan.precision}`,
      `${bar(frames.total === 0 ? 0 : frames.done / frames.total)} parts ${parts.done}/${total}${run.prepared ? '' : '+'}, ` +
        `frames ${formatCount(frames.done)}/${formatCount(frames.total)}, ${parts.failed} failed, ` +
        `at work for ${formatDuration(timings.workingMilliseconds / 1000)}`,
      ...viralLines(viral),
      ...(repeatedProteins + repeatedNucleotides === 0
        ? []
        : [
            `equal sequences once: ESM-2 was spared ${formatCount(repeatedProteins)} frames, ` +
              `DNABERT-S ${formatCount(repeatedNucleotides)}`,
          ]),
      ...(norms === null ? [] : [describeUnusualNorms(norms).text]),
      ...devices.map((device) => deviceLine(device) + memoryWords(run, device.id)),
      ...(uneven === null ? [] : [uneven]),
      ...shown.map(({ time, message }) => `${new Date(time).toISOString()} ${message}`),
      ...(run.state.phase === 'paused' && run.state.error
        ? [`${run.state.error.title}. ${run.state.error.cause} ${run.state.error.nextStep}`]
        : []),
      ...(holder ? [`Being worked on by process ${holder.pid} on ${holder.host}.`] : []),
    ];
    toStandardOutput(lines.join('\n'));
    return 0;
  } finally {
    await store.close();
  }
}
