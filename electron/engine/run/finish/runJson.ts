import type { PlanModel } from '../../../contract/plan.ts';
import { RESULT_FILES } from '../../../contract/results.ts';
import { syncFolder } from '../../system/replaceFile.ts';
import { replaceInRun } from '../../system/runFiles.ts';
import { controlsFacts } from '../../../contract/checks.ts';
import type {
  NormRange,
  RunEvent,
  RunTimings,
  StoredRun,
  DeviceSummary,
  JsonObject,
  RunDevice,
} from '../../store/types.ts';
import type { RunJsonFacts, TablesWritten } from '../../results/types.ts';
import type { DeviceMeasures } from '../../store/sqlite/telemetry/runTimings.ts';
import type { RunStore } from '../../store/runStore.ts';
import { describeImbalance } from '../progress/remarks.ts';

/** The content of run.json: how the results were made, for people and programs that have only the folder. */
export function runJson(
  run: StoredRun,
  timings: RunTimings,
  devices: readonly DeviceReport[],
  remarks: readonly RunEvent[],
  tables: TablesWritten,
  facts: RunJsonFacts,
) {
  const { description, plan, counts, inputs } = run;
  const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString());
  return {
    format: 1,
    notice: plan.model.notice,
    run: { id: description.runId, name: description.name, options: description.options },
    versions: {
      app: facts.appVersion,
      app_at_creation: description.appVersion,
      backend: facts.backendVersion,
      python: facts.pythonVersion,
      torch: facts.torchVersion,
      platform: facts.platform,
    },
    plan: {
      chunk_length: plan.chunkLength,
      ...(plan.secondLook && {
        second_look: {
          chunk_length: plan.secondLook.chunkLength,
          model: modelFacts(plan.secondLook.model ?? plan.model),
        },
      }),
      precision: plan.precision,
      tokens_per_batch: plan.tokensPerBatch,
      residues_per_part: plan.residuesPerPart,
      tail_parts: plan.tailParts,
      order: plan.order,
      order_seed: plan.orderSeed,
      first_round: plan.firstRound,
      embed_equal_sequences_once: plan.embedEqualSequencesOnce,
      embeddings: plan.embeddings,
      repairs: plan.repairs ?? [],
      ...(plan.minLength !== undefined && { min_length: plan.minLength }),
      ...(plan.geneticCode !== undefined && { genetic_code: plan.geneticCode }),
      // Embeddings from another tool, perhaps in another precision: see docs/results.md.
      imported: importedFacts(plan),
      ...(plan.earlier !== undefined && { earlier: plan.earlier }),
      ...(plan.trusted && {
        p_values_against: { file: plan.trusted.file, calibrated_at: plan.trusted.calibratedAt },
      }),
      model: modelFacts(plan.model),
    },
    inputs: inputs.map(({ path, sizeBytes, sha256, prepared }, input) => ({
      path,
      bytes: sizeBytes,
      sha256,
      records: prepared?.records ?? null,
      bases: prepared?.bases ?? null,
      ...(plan.inputs[input]?.added && { added: plan.inputs[input].added }),
      device_seconds: facts.inputSeconds[input] ?? null,
      problems: run.problems
        .filter((problem) => problem.input === input)
        .map(({ code, count }) => ({ code, count })),
    })),
    // The model's last controls on these kinds of devices when the run began; empty if it was never checked.
    controls: controlsFacts(run.devices),
    devices,
    cluster: clusterFacts(run, devices, facts.tolerance),
    remarks: remarks.map(({ time, level, code, message }) => ({ time: iso(time), level, code, message })),
    counts: {
      records: tables.counts.records,
      chunks: tables.counts.chunks,
      chunks_scored: tables.counts.chunksScored,
      chunks_viral: tables.counts.chunksViral,
      frames: counts.frames.total,
      frames_scored: tables.counts.framesScored,
      residues: counts.residues.total,
      ...(plan.earlier !== undefined && { residues_taken_over: counts.residuesTakenOver }),
      by_prediction: tables.counts.byPrediction,
      by_reason: tables.counts.byReason,
      parts: counts.parts,
      // Parts whose scores are equal to those of an undisturbed run within the tolerance, rather than byte
      // for byte.
      parts_bounded: counts.boundedParts,
      parts_recomputed_fp32: counts.recomputedParts,
      // Frames that shared an equal frame's pass of ESM-2, or of DNABERT-S.
      frames_protein_repeated: counts.repeatedProteins,
      frames_nucleotides_repeated: counts.repeatedNucleotides,
      // Frames outside the norm band are scored like the others; the norms of all embeddings, and the
      // expected ones, are given beside the count.
      frames_outside_norm_band: counts.outsideNormBand,
      norms: {
        esm2: rangeWithBand(counts.norms.esm2, plan.model.normBands?.esm2),
        dnabert_s: rangeWithBand(counts.norms.dnabertS, plan.model.normBands?.dnabert_s),
      },
      parts_failed: tables.counts.failedParts,
      tolerance: facts.tolerance,
    },
    timings: {
      created_at: iso(timings.createdAt),
      started_at: iso(timings.startedAt),
      finished_at: iso(timings.lastChangeAt),
      working_seconds: timings.workingMilliseconds / 1000,
      tables_seconds: tables.seconds,
    },
    files: tables.files,
  };
}

/** The nodes with their devices, if devices of a cluster took part. Null for a run on one computer. */
function clusterFacts({ devices }: StoredRun, reports: readonly DeviceReport[], tolerance: number) {
  const nodes = new Map<string, { id: string; name: string; parts: number }[]>();
  for (const { id, name, facts } of devices) {
    if (typeof facts['node'] !== 'string') continue;
    const parts = reports.find((report) => report.id === id)?.parts ?? 0;
    nodes.set(facts['node'], [...(nodes.get(facts['node']) ?? []), { id, name, parts }]);
  }
  if (nodes.size === 0) return null;
  return {
    nodes: [...nodes].map(([node, there]) => ({ node, devices: there })),
    equality:
      'Scores are equal byte for byte to those of any other devices of the same model, ' +
      `and equal within the tolerance (${tolerance}) to those of other models.`,
  };
}

function importedFacts({ imported }: StoredRun['plan']) {
  if (!imported) return null;
  return {
    folder: imported.folder,
    tool: imported.tool,
    precision: imported.precision ?? 'unknown',
    frames: imported.frames,
    frames_dnabert_s: imported.framesDnabertS,
    frames_esm2: imported.framesEsm2,
    rows_left_out: imported.rowsLeftOut,
    files_used: imported.filesUsed,
    files_refused: imported.filesRefused,
    refused: imported.refused,
  };
}

function rangeWithBand(range: NormRange | null, band: [number, number] | undefined) {
  return range && { ...range, expected: band ?? null };
}

/** Writes run.json atomically. */
export function writeRunJson(folder: string, content: ReturnType<typeof runJson>): void {
  replaceInRun(folder, RESULT_FILES.run, Buffer.from(`${JSON.stringify(content, null, 2)}\n`));
  syncFolder(folder);
}

/**
 * The share of computing time from which a device counts as kept busy, and the shortest time for which that
 * is judged, since loading dominates before.
 */
const BUSY_ENOUGH = 0.8;
const LONG_ENOUGH_MS = 10 * 60_000;

export type DeviceReport = ReturnType<typeof deviceReports>[number];

/** Performance of each device in a run, for run.json and `virnucpro status`. */
export function deviceReports(
  devices: readonly RunDevice[],
  done: readonly DeviceSummary[],
  measured: readonly DeviceMeasures[],
  { workingMilliseconds }: Pick<RunTimings, 'workingMilliseconds'>,
) {
  return devices.map(({ id, name, kind, facts: noted, switchedOff }) => {
    // Controls belong to a kind of device and are reported separately.
    const facts: JsonObject = { ...noted };
    delete facts['controls'];
    const work = done.find(({ device }) => device === id);
    const measures = measured.find(({ device }) => device === id);
    const seconds = work?.seconds ?? 0;
    // Devices of a cluster come and go during a run.
    const sampled = typeof facts['node'] === 'string' ? measures?.sampledMilliseconds : undefined;
    const thereMilliseconds = Math.min(workingMilliseconds, sampled ?? workingMilliseconds);
    // Share of the time for which the run was computing and the device was present: the rest is loading,
    // waiting, and work that was lost with a worker.
    const busy = thereMilliseconds > 0 ? Math.min(1, (1000 * seconds) / thereMilliseconds) : null;
    return {
      id,
      name,
      kind,
      ...facts,
      switched_off: switchedOff?.cause ?? null,
      parts: work?.parts ?? 0,
      frames: work?.frames ?? 0,
      residues: work?.residues ?? 0,
      seconds,
      residues_per_second: work && seconds > 0 ? rounded(work.residues / seconds, 1) : null,
      busy_share: rounded(busy, 4),
      // Null for runs that are too short to tell.
      kept_busy: busy === null || thereMilliseconds < LONG_ENOUGH_MS ? null : busy >= BUSY_ENOUGH,
      utilization_mean_percent: rounded(measures?.utilizationMeanPercent ?? null, 1),
      utilization_median_percent: rounded(measures?.utilizationMedianPercent ?? null, 1),
      memory_peak_bytes: measures?.memoryPeakBytes ?? null,
      power_mean_w: rounded(measures?.powerMeanW ?? null, 1),
      energy_wh: rounded(measures?.energyWh ?? null, 3),
    };
  });
}

function modelFacts({ name, title, hash, folder }: PlanModel) {
  return { name, title, sha256: hash, folder };
}

function rounded<Value extends number | null>(value: Value, digits: number): Value {
  return (value === null ? null : Number(value.toFixed(digits))) as Value;
}

/** This many of the newest warnings are included; run.db and logs/run.log hold all of them. */
const REMARKS = 100;

/** The course of a run, as `status` and run.json report it. */
interface RunReport {
  run: StoredRun;
  timings: RunTimings;
  devices: DeviceReport[];
  /** A sentence if devices of one kind were not equally fast. */
  uneven: string | null;
  remarks: RunEvent[];
}

export async function readRunReport(store: RunStore): Promise<RunReport> {
  const [run, timings, done, measured, remarks] = await Promise.all([
    store.loadRun(),
    store.timings(),
    store.deviceSummaries(),
    store.deviceMeasures(),
    store.remarks(REMARKS),
  ]);
  return {
    run,
    timings,
    devices: deviceReports(run.devices, done, measured, timings),
    uneven: describeImbalance(run.devices, done)?.text ?? null,
    remarks,
  };
}
