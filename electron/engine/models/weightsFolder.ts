import { join } from 'node:path';
import type { AppPaths } from '../environment/appPaths.ts';

export const PUBLISHED_MODELS = ['300', '500'] as const;

/** Folder of the downloaded and converted weights. */
export function weightsFolder(paths: AppPaths): string {
  return join(paths.dataDir, 'weights');
}
