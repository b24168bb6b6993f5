import { closeSync, fsyncSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RESULT_FILES } from '../../../contract/results.ts';
import { replaceFile } from '../../files/replaceFile.ts';
import { openNew } from '../../files/runFiles.ts';
import { controlsFacts } from '../../results/controlsOfRun.ts';
import { syncFolder } from '../../store/syncFolder.ts';
import type { NormRange, RunEvent, RunTimings, StoredRun } from '../../store/types.ts';
import type { DeviceReport } from './deviceReport.ts';
import type { RunJsonFacts, TablesWritten } from '../../results/types.ts';

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
      precision: plan.precision,
      tokens_per_batch: plan.tokensPerBatch,
      residues_per_part: plan.residuesPerPart,
      tail_parts: plan.tailParts,
      order: plan.order,
      order_seed: plan.orderSeed,
      embed_equal_sequences_once: plan.embedEqualSequencesOnce,
      embeddings: plan.embeddings,
      repairs: plan.repairs ?? [],
      // Embeddings from another tool, perhaps in another precision: see docs/results.md.
      imported: importedFacts(plan),
      ...(plan.trusted && {
        p_values_against: { file: plan.trusted.file, calibrated_at: plan.trusted.calibratedAt },
      }),
      model: {
        name: plan.model.name,
        title: plan.model.title,
        sha256: plan.model.hash,
        folder: plan.model.folder,
      },
    },
    inputs: inputs.map(({ path, sizeBytes, sha256, prepared }, input) => ({
      path,
      bytes: sizeBytes,
      sha256,
      records: prepared?.records ?? null,
      bases: prepared?.bases ?? null,
      device_seconds: facts.inputSeconds[input] ?? null,
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
  const path = join(folder, RESULT_FILES.run);
  const temporary = `${path}.tmp`;
  const descriptor = openNew(temporary);
  try {
    writeFileSync(descriptor, `${JSON.stringify(content, null, 2)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  replaceFile(temporary, path);
  syncFolder(folder);
}
