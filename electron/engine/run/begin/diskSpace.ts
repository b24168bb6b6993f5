import { appError, type AppError } from '../../../contract/errors.ts';
import { bytesNamed, message } from '../../../contract/messages.ts';
import type { RunRequest } from '../../../contract/rpc/runs.ts';
import { freeBytes } from '../../devices/computerChecks.ts';
import { formatBytes } from '../../../contract/terminal/format.ts';

const BYTES = { perChunkInDatabase: 130, perChunkInTables: 90, perFrameInTables: 70, perFrameInWork: 30 };
const EMBEDDING_VALUES_PER_FRAME = 768 + 2560;
const DISK_MARGIN = 1.2;
const SMALLEST_RUN_BYTES = 1_000_000;

/** Sizes from the inspection of the inputs. */
interface InputSize {
  chunks: number;
  frames: number;
  residues: number;
}

/** Disk space that a run needs in its folder while it computes. */
export function diskNeeded(
  { embeddings, reuseEmbeddings }: Pick<RunRequest, 'embeddings' | 'reuseEmbeddings'>,
  { chunks, frames, residues }: InputSize,
): number {
  const kept = embeddings === null ? 0 : embeddings === 'fp16' ? 2 : 4;
  const perFrame = EMBEDDING_VALUES_PER_FRAME * (kept + (reuseEmbeddings === undefined ? 0 : 4));
  const needed =
    chunks * (BYTES.perChunkInDatabase + BYTES.perChunkInTables) +
    frames * (BYTES.perFrameInTables + BYTES.perFrameInWork + perFrame) +
    // Residues and their nucleotides, which are kept until the run is done.
    residues * 4;
  return Math.round(SMALLEST_RUN_BYTES + needed * DISK_MARGIN);
}

/** The problem of a run whose disk has too little space. */
export function diskShortage(folder: string, needed: number, free: number | null): AppError | undefined {
  if (free === null || free >= needed) return undefined;
  return appError(
    'disk_full',
    message('start.disk_needed', {
      needed: bytesNamed(needed, formatBytes(needed)),
      free: bytesNamed(free, formatBytes(free)),
      folder,
    }),
    { nextStep: message('start.disk_needed.next') },
  );
}

/** The same for a run that has just been created, from its input files. */
export async function findDiskShortage(
  folder: string,
  request: Pick<RunRequest, 'embeddings' | 'reuseEmbeddings'>,
  files: readonly InputSize[],
): Promise<AppError | undefined> {
  const sum = (of: keyof InputSize): number => files.reduce((total, file) => total + file[of], 0);
  const size = { chunks: sum('chunks'), frames: sum('frames'), residues: sum('residues') };
  return diskShortage(folder, diskNeeded(request, size), await freeBytes(folder));
}
