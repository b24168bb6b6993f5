import { create } from 'zustand';
import type { SelfTestLevel, StepProgress } from '../../../electron/contract/index.ts';
import { toShownError, type ShownError } from '../../api/callError.ts';
import { engine, queries } from '../connection.ts';
import { queryClient } from '../queryClient.ts';
import { uploadFile, type Dropped } from '../upload.ts';

/** A download, check, self-test or import that this window follows; it stays while other screens are looked at. */
interface WeightsWork {
  readonly progress: StepProgress | null;
  readonly error: ShownError | null;
}

interface WeightsState {
  /** By what it is about: the id of a model, `import`, or the key of a self-test. */
  readonly works: Readonly<Record<string, WeightsWork>>;
  /** Files and folders that the user wants to import; null where the dialog is closed. */
  readonly importing: readonly string[] | null;
  /** Browser mode: what is being sent to the engine's computer. */
  readonly upload: { readonly name: string; readonly fraction: number } | null;
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

/** True where it came to a good end. */
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
  // What was missing is there now, also for the check of the computer.
  await queryClient.invalidateQueries();
  return error === null;
}

export const getWeights = (model: string) => follow(model, () => engine.computer.getWeights({ model }));

export const verifyModel = (model: string) => follow(model, () => engine.computer.verifyModel({ model }));

export const selfTestKey = (level: SelfTestLevel): string =>
  'model' in level ? `${level.level} of ${level.model}` : level.level;

export const runSelfTest = (level: SelfTestLevel) =>
  follow(selfTestKey(level), () => engine.computer.runSelfTest(level));

/** What has come is kept. */
export async function pauseWeights(model: string): Promise<void> {
  pausing.add(model);
  await engine.computer.pauseWeights({ model });
}

/** Downloads that another window, or this one before it was loaded again, has begun. */
export async function joinDownloads(): Promise<void> {
  // As a query it waits for the link to the engine; it is not cached, since an operation that has ended must not be shown again.
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

/** What was dropped on the window where models are shown. */
export async function importDropped(dropped: Dropped): Promise<void> {
  if (dropped.kind === 'paths') {
    openImport(dropped.paths);
    return;
  }
  try {
    const paths: string[] = [];
    for (const file of dropped.files) {
      const onProgress = (fraction: number) => useWeights.setState({ upload: { name: file.name, fraction } });
      onProgress(0);
      paths.push(await uploadFile(file, onProgress));
    }
    openImport(paths);
  } finally {
    useWeights.setState({ upload: null });
  }
}

export const lookQuery = (paths: readonly string[]) =>
  queries.computer.lookAtWeights.queryOptions({ input: { paths: [...paths] } });
