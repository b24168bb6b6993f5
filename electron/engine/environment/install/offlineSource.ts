import type { TorchBuild } from './choosePyTorch.ts';

/** What an environment is made of where there is no network: files of a folder that was packed on another computer. */
export interface OfflineSource {
  readonly uv: string;
  /** Folder of the wheels. Their hashes are in the program's own lock file. */
  readonly wheels: string;
  /** Lock file of a PyTorch that the program's own does not name; null where that names it. */
  readonly torchLock: string | null;
  /** The Python that the wheels are for, such as 3.12. */
  readonly python: string;
  /** Folder with the archive of that Python as uv keeps it; null where this computer must have one of its own. */
  readonly pythonArchives: string | null;
  readonly torchBuild: TorchBuild;
}
