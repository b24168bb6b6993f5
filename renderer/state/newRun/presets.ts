import type { ProbedGpu, RunRequest } from '../../../electron/contract/index.ts';

type PresetSettings = Pick<RunRequest, 'precision' | 'embeddings' | 'keepWork'>;

export const PRESETS = {
  quick: { precision: 'fp8', embeddings: null, keepWork: false },
  standard: { precision: 'auto', embeddings: null, keepWork: false },
  exact: { precision: 'fp32', embeddings: null, keepWork: false },
  embeddings: { precision: 'auto', embeddings: 'fp16', keepWork: true },
} as const satisfies Record<string, PresetSettings>;

export type PresetId = keyof typeof PRESETS;
export const PRESET_IDS = Object.keys(PRESETS) as PresetId[];

/** The preset that the settings amount to; null where they were set by hand to something else. */
export function presetOf(settings: PresetSettings): PresetId | null {
  return (
    PRESET_IDS.find((id) => {
      const preset = PRESETS[id];
      return (
        preset.precision === settings.precision &&
        preset.embeddings === settings.embeddings &&
        preset.keepWork === settings.keepWork
      );
    }) ?? null
  );
}

/** Only where every GPU has eight-bit arithmetic. */
export function canQuickLook(gpus: readonly ProbedGpu[]): boolean {
  return gpus.length > 0 && gpus.every((gpu) => gpu.precisions.includes('fp8'));
}
