import type { BlastSearch } from '../../../contract/exports.ts';
import type { AppError, Result } from '../../../contract/errors.ts';
import type { FilePurpose, FolderPurpose } from '../../../contract/rpc/shell.ts';

/**
 * The paths that a window may name. The program's own folders, and those of the runs in the list, are also
 * allowed.
 */
export interface PathPolicy {
  /** The folder that everything must lie in; null if the user's own choices decide. */
  readonly root: string | null;
  allows: (path: string) => Promise<boolean>;
  /** Why a path isn't allowed, and what to do. */
  refusal: (path: string) => AppError;
}

/** Actions that only a desktop shell can do for its window. */
export interface DesktopActions {
  chooseFiles: (purpose: FilePurpose) => Promise<string[]>;
  chooseFolder: (purpose: FolderPurpose) => Promise<string | null>;
  chooseSaveFile: (suggestedName: string) => Promise<string | null>;
  /** Accepts dropped paths as given by the user, if the preload script has seen the drop. */
  grantPaths: (paths: readonly string[]) => Promise<Result<void>>;
  revealInFolder: (path: string) => void;
  /** Opens the file in the computer's default program. */
  openFile: (path: string) => Promise<Result<void>>;
  /** Quits in the usual way and starts again at the end. */
  restart: () => void;
  /** Prints a page of this computer that holds no script, as a PDF on A4. */
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
  /** The same for a file that is not its own: it stays where it is. */
  lend: (path: string) => string;
}

/** The calling window: one per connection. */
export type WindowContext =
  | { readonly shell: 'electron'; readonly paths: PathPolicy; readonly desktop: DesktopActions }
  | {
      readonly shell: 'browser';
      readonly paths: PathPolicy;
      readonly downloads: DownloadOffers;
      /** Whether the browser runs on the engine's computer, as far as can be determined. */
      readonly sameComputer: boolean;
    };

/** What the router knows about every call. */
export interface CallContext {
  readonly window: WindowContext;
}
