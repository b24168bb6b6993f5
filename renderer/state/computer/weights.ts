import { create } from 'zustand';
import type { CheckRequest, StepProgress } from '../../../electron/contract/index.ts';
import { toShownError, type ShownError } from '../../api/callError.ts';
import { engine, queries } from '../connection.ts';
import { askAgain, queryClient } from '../queryClient.ts';
import { sentFraction, uploadFile, type Dropped } from '../upload.ts';

/** A download, check or import that this window follows, even while other screens are shown. */
interface WeightsWork {
  readonly progress: StepProgress | null;
  readonly error: ShownError | null;
}

interface WeightsState {
  /** Keyed by subject: the id of a model, `import`, or the key of a check. */
  readonly works: Readonly<Record<string, WeightsWork>>;
  /** Files and folders that the user wants to import; null where the dialog is closed. */
  readonly importing: readonly string[] | null;
  /** In browser mode, what is being sent to the engine's computer: the file under way, how many are left with it, and the
   * fraction of all bytes that has arrived. */
  readonly upload: { readonly name: string; readonly count: number; readonly fraction: number } | null;
}

export const useWeights = create<WeightsState>(() => ({ works: {}, importing: null, upload: null }));

const pausing = new Set<string>();

function setWork(key: string, work: WeightsWork | null): void {
  useWeights.setState(({ works }) => {
    const others = Object.fromEntries(Object.entries(works).filter(([other]) => other !== key));
    return { works: work ? { ...others, [key]: work } : others };
  });
}

const forgetWork = (key: string) => setWork(key, null);

/** Resolves with true if the work succeeded. */
async function follow(key: string, begin: () => Promise<AsyncIterable<StepProgress>>): Promise<boolean> {
  const known = useWeights.getState().works[key];
  if (known && known.error === null) return false;
  setWork(key, { progress: null, error: null });
  let error: ShownError | null = null;
  try {
    for await (const progress of await begin()) {
      error = progress.error;
      setWork(key, { progress, error });
    }
  } catch (reason) {
    error = toShownError(reason);
    setWork(key, { progress: null, error });
  }
  if (error === null || pausing.delete(key)) setWork(key, null);
  // Something that was missing is now present, which also changes the computer check.
  askAgain();
  return error === null;
}

export const getWeights = (model: string) => follow(model, () => engine.computer.getWeights({ model }));

export const verifyModel = (model: string) => follow(model, () => engine.computer.verifyModel({ model }));

export const checkKey = (request: CheckRequest): string =>
  'model' in request ? `${request.check} of ${request.model}` : request.check;

export const runCheck = (request: CheckRequest) =>
  follow(checkKey(request), () => engine.computer.runCheck(request));

/** What has been downloaded is kept. */
export async function pauseWeights(model: string): Promise<void> {
  pausing.add(model);
  await engine.computer.pauseWeights({ model });
}

/** Follows downloads that another window started, or this one before it was reloaded. */
export async function joinDownloads(): Promise<void> {
  // As a query it waits for the link to the engine. It is not cached, since an operation that has ended must not be shown again.
  const { models } = await queryClient.query(
    queries.computer.weightsUnderWay.queryOptions({ staleTime: 0, gcTime: 0 }),
  );
  for (const model of models) void getWeights(model);
}

export const openImport = (paths: readonly string[]) => {
  if (paths.length > 0) useWeights.setState({ importing: paths });
};

export const closeImport = () => {
  forgetWork('import');
  useWeights.setState({ importing: null });
};

export const importWeights = (paths: readonly string[], name?: string, chunkLength?: number) =>
  follow('import', () =>
    engine.computer.importWeights({
      paths: [...paths],
      ...(name === undefined ? {} : { name }),
      ...(chunkLength === undefined ? {} : { chunkLength }),
    }),
  );

/** Imports what was dropped on the window while it shows models. */
export async function importDropped(dropped: Dropped): Promise<void> {
  if (dropped.kind === 'paths') {
    openImport(dropped.paths);
    return;
  }
  try {
    const { files } = dropped;
    const paths: string[] = [];
    for (const [position, file] of files.entries()) {
      const onProgress = (fraction: number) => {
        const sent = files.map(({ size }, index) => ({
          bytes: size,
          fraction: index < position ? 1 : index > position ? 0 : fraction,
        }));
        const count = files.length - position;
        useWeights.setState({ upload: { name: file.name, count, fraction: sentFraction(sent) } });
      };
      onProgress(0);
      paths.push(await uploadFile(file, onProgress));
    }
    openImport(paths);
  } finally {
    useWeights.setState({ upload: null });
  }
}
