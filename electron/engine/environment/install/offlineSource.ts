import type { TorchBuild } from './choosePyTorch.ts';

/** What an environment is made of where there is no network: files of a folder that was packed on another computer. */
export interface OfflineSource {
  readonly uv: string;
  /** Folder of the wheels, and the lock file that names each of them with its hash. */
  readonly wheels: string;
  readonly lock: string;
  /** The Python that the wheels are for, such as 3.12. */
  readonly python: string;
  /** Folder with the archive of that Python as uv keeps it; null where this computer must have one of its own. */
  readonly pythonArchives: string | null;
  readonly torchBuild: TorchBuild;
}
