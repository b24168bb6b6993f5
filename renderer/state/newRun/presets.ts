import type { ProbedGpu, RunRequest } from '../../../electron/contract/index.ts';

/** Accuracy levels, by number format alone. Keeping embeddings is a separate choice. */
export const PRESETS = { standard: 'auto', exact: 'fp32' } as const satisfies Record<
  string,
  RunRequest['precision']
>;

export type PresetId = keyof typeof PRESETS;
export const PRESET_IDS = Object.keys(PRESETS) as PresetId[];

/** The level of a number format; null if it was set by hand to another one. */
export function presetOf(precision: RunRequest['precision']): PresetId | null {
  return PRESET_IDS.find((id) => PRESETS[id] === precision) ?? null;
}

/** The first GPU that failed the test computation in the number format of a level; undefined if none did. */
export function failedAt(id: PresetId, gpus: readonly ProbedGpu[]): ProbedGpu | undefined {
  return gpus.find((gpu) => gpu.failed?.some(({ precision }) => precision === PRESETS[id]));
}
