import { join } from 'node:path';
import type { AppPaths } from '../environment/appPaths.ts';

export const PUBLISHED_MODELS = ['300', '500'] as const;

/** Folder of the downloaded and converted weights. */
export function weightsFolder(paths: AppPaths): string {
  return join(paths.dataDir, 'weights');
}

/** Below it, the encoders: models share them. */
export const SHARED_WEIGHTS = 'shared';

/** Below it, what is being fetched: a folder for each source, as the backend's install.py lays it out. */
export function downloadsFolder(paths: AppPaths): string {
  return join(weightsFolder(paths), 'downloads');
}
