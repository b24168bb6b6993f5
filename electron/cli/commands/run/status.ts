import { controlsFacts, describeRunControls } from '../../../contract/checks.ts';
import { appFailure } from '../../../contract/errors.ts';
import { estimateText, sharePercent } from '../../../contract/shareEstimate.ts';
import {
  describePhase,
  describeUnusualNorms,
  type EngineContext,
  IMBALANCE,
  isRunFolder,
  runLockHolder,
  openRunStore,
  readRunReport,
  sharesBegun,
  type SharesBegun,
  type StoredRun,
  expectedShares,
  samplesFound,
  storedFacts,
  UNUSUAL_NORMS,
  formatCount,
  formatPercent,
} from '../../../engine/index.ts';
import { viralShare } from '../../../contract/results.ts';
import type { SamplesFound } from '../../../contract/rpc/results.ts';
import type { ExpectedShares, ExpectedShare } from '../../../contract/rpc/runs.ts';
import { isActive } from '../../../contract/runState.ts';
import { deviceLine, toStandardOutput } from '../../output/terminal.ts';
import { bar, totalLine } from '../../output/progressText.ts';

/** How the model is placed in a device's memory, if not in the usual way. */
function memoryWords({ devices, plan }: StoredRun, id: string): string {
  const { placement, tokensPerBatch } = devices.find((device) => device.id === id)?.facts ?? {};
  const smaller = typeof tokensPerBatch === 'number' && tokensPerBatch < plan.tokensPerBatch;
  return (
    (placement === 'streamed' ? ", ESM-2's layers streamed from main memory" : '') +
    (smaller ? `, batches of ${formatCount(tokensPerBatch)} tokens` : '')
  );
}

/** What a finished run found, in all and by sample. */
function foundLines({ all, items }: SamplesFound): string[] {
  return listed('called virus', all, items, ({ byPrediction }) => {
    const { virus, others } = byPrediction;
    const share = sharePercent(viralShare(byPrediction), formatPercent);
    return `${formatCount(virus)} of ${formatCount(virus + others)} sequences with a call, ${share}`;
  });
}

/** The viral shares that an unfinished run will show. */
function expectedLines({ isSample, run, samples }: ExpectedShares): string[] {
  return run.scored === 0
    ? []
    : listed('viral share expected', run, samples, (one) =>
        one.scored === 0 ? 'nothing computed yet' : shareText(one, isSample),
      );
}

function listed<All>(
  title: string,
  all: All,
  samples: readonly (All & { sample: string })[],
  text: (one: All) => string,
): string[] {
  const each = samples.map((one) => `  ${one.sample}: ${text(one)}`);
  return [`${title}: ${text(all)}`, ...(samples.length < 2 ? [] : each)];
}

const MOST_SHARE_LINES = 20;

/**
 * The shares of a run that other processes compute, whether started by hand, by a workflow engine or by a
 * scheduler.
 */
function shareLines(found: SharesBegun | null): string[] {
  if (found === null) return [];
  const { shares, parts, residuesPerSecond } = found;
  const computing = shares.filter((one) => one.computing);
  const nodes = new Set(computing.map(({ status: { node } }) => node)).size;
  const speed = residuesPerSecond === null ? '' : `, ${formatCount(residuesPerSecond)} residues/s`;
  const lines = shares.map(({ share, status, computing: atWork }) => {
    const doing = atWork ? 'computing' : isOver(status.phase) ? status.phase : 'silent';
    const why = status.error === null ? '' : `: ${status.error}`;
    return `  ${share} on ${status.node}: parts ${status.parts.done}/${status.parts.total}, ${doing}${why}`;
  });
  const more = lines.length - MOST_SHARE_LINES;
  return [
    `shares begun ${formatCount(shares.length)}, computing ${formatCount(computing.length)} on ${nodes} nodes, ` +
      `${formatCount(parts)} parts not taken over yet${speed}`,
    ...lines.slice(0, MOST_SHARE_LINES),
    ...(more > 0 ? [`  and ${formatCount(more)} more; --json lists all`] : []),
  ];
}

const isOver = (phase: string): boolean => phase === 'done' || phase === 'paused';

/** The number of recent warnings that are printed; --json has the whole report. */
const SHOWN_REMARKS = 5;

/** Prints the state of a run, also while another program works on it. */
export async function status(context: EngineContext, folder: string, json: boolean): Promise<number> {
  if (!isRunFolder(folder)) throw appFailure('folder_not_a_run', `${folder} holds no run.db.`);
  const store = await openRunStore(folder, { hostEntry: context.storeHost, readOnly: true });
  try {
    const { run, timings, devices, uneven, remarks } = await readRunReport(store);
    const found = run.state.phase === 'done' ? await samplesFound(store, run) : null;
    const expected = await expectedShares(store);
    const { progress } = await storedFacts(store);
    const shares = await sharesBegun(store);
    const shown = remarks
      .filter(({ code }) => code !== IMBALANCE && code !== UNUSUAL_NORMS)
      .slice(-SHOWN_REMARKS);
    const holder = runLockHolder(folder);
    const interrupted = isActive(run.state) && holder === null;
    if (json) {
      const { state, counts, plan } = run;
      process.stdout.write(
        `${JSON.stringify({ state, interrupted, counts, plan, timings, progress, controls: controlsFacts(run.devices), devices, uneven, remarks, holder, found, expected, shares: shares?.shares ?? [] })}\n`,
      );
      return 0;
    }
    const { repeatedProteins, repeatedNucleotides } = run.counts;
    const controls = describeRunControls(run.devices, 'en');
    const lines = [
      `${run.description.name}: ${interrupted ? 'interrupted; go on with "virnucpro resume"' : describePhase(run.state)}`,
      `model ${run.plan.model.title}${run.plan.model.notice ? ` (${run.plan.model.notice})` : ''}, ${run.plan.precision}`,
      ...(controls === null ? [] : [`last check of the model: ${controls}`]),
      `${bar(progress.fraction ?? 0)} ${totalLine(progress)}`,
      ...shareLines(shares),
      ...(found === null ? [] : foundLines(found)),
      ...(expected === null ? [] : expectedLines(expected)),
      ...(repeatedProteins + repeatedNucleotides === 0
        ? []
        : [
            `equal sequences once: ESM-2 was spared ${formatCount(repeatedProteins)} frames, ` +
              `DNABERT-S ${formatCount(repeatedNucleotides)}`,
          ]),
      ...(progress.unusualNorms === null ? [] : [describeUnusualNorms(progress.unusualNorms).text]),
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

const NO_ESTIMATE_YET = 'no estimate until the files are read and the first round, or another, is computed';

/** The viral share of a run or a sample of which something is scored, and what it rests on. */
function shareText({ unit, viral, scored, total, estimate }: ExpectedShare, isSample: boolean): string {
  const of = `${formatCount(scored)} of ${formatCount(total)} ${unit}`;
  return estimate === null
    ? `${formatCount(viral)} of ${of}, ${isSample ? NO_ESTIMATE_YET : 'computed in the order of the files'}`
    : `${estimateText(estimate, formatPercent)}, from ${of}`;
}
