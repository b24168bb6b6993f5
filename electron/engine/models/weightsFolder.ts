import { join } from 'node:path';
import type { AppPaths } from '../environment/appPaths.ts';

export const PUBLISHED_MODELS = ['300', '500'] as const;

/** The folder of the downloaded and converted weights. */
export function weightsFolder(paths: AppPaths): string {
  return join(paths.dataDir, 'weights');
}

/** The subfolder of the encoders, which models share. */
export const SHARED_WEIGHTS = 'shared';

/** The subfolder of downloads in progress: one folder for each source, as in the backend's install.py. */
export function downloadsFolder(paths: AppPaths): string {
  return join(weightsFolder(paths), 'downloads');
}
