import type { BlastSearch } from '../../../contract/blast.ts';
import type { AppError } from '../../../contract/errors.ts';
import type { Result } from '../../../contract/result.ts';
import type { FilePurpose, FolderPurpose } from '../../../contract/rpc/shell.ts';

/** Which paths a window may name. The program's own folders, and those of the runs in the list, are allowed besides. */
export interface PathPolicy {
  /** Folder that everything must lie in; null where the user's own choices decide. */
  readonly root: string | null;
  allows: (path: string) => Promise<boolean>;
  /** Why a path isn't allowed, and what to do. */
  refusal: (path: string) => AppError;
}

/** What only a desktop shell can do for its window. */
export interface DesktopActions {
  chooseFiles: (purpose: FilePurpose) => Promise<string[]>;
  chooseFolder: (purpose: FolderPurpose) => Promise<string | null>;
  chooseSaveFile: (suggestedName: string) => Promise<string | null>;
  /** Takes dropped paths as given by the user, where the preload script has seen the drop. */
  grantPaths: (paths: readonly string[]) => Promise<Result<void>>;
  revealInFolder: (path: string) => void;
  /** In the program that the computer has for such files. */
  openFile: (path: string) => Promise<Result<void>>;
  /** Goes the way out that quitting goes, and begins again at its end. */
  restart: () => void;
  /** A page of this computer that holds no script, as a PDF on A4. */
  pdfOf: (pagePath: string) => Promise<Buffer>;
  copyText: (text: string) => Promise<void>;
  searchBlast: (search: BlastSearch) => Promise<void>;
}

/** Where a page without a disk of its own finds its exports. */
export interface DownloadOffers {
  /** A new path to write an export to, under the name that the user will see. */
  place: (suggestedName: string) => Promise<string>;
  /** Makes the written file available; answers with the path part of its address. */
  offer: (path: string) => string;
  /** Likewise, of a file that is not its own: it stays where it is. */
  lend: (path: string) => string;
}

/** What the router knows of the window that calls: one per connection. */
export type WindowContext =
  | { readonly shell: 'electron'; readonly paths: PathPolicy; readonly desktop: DesktopActions }
  | {
      readonly shell: 'browser';
      readonly paths: PathPolicy;
      readonly downloads: DownloadOffers;
      /** The browser runs on the engine's computer, as far as can be told. */
      readonly sameComputer: boolean;
    };
