import { create } from 'zustand';
import {
  appError,
  message,
  NO_DETAILS,
  type InspectEvent,
  type NamedSample,
  type Repair,
  type SampleDetails,
} from '../../../electron/contract/index.ts';
import { detailsOfFiles, RUN_REQUEST_DEFAULTS, samplesOfFiles, type RunChoices } from './choices.ts';
import { fileName } from '../../i18n/names.ts';
import type { ShownError } from '../../api/callError.ts';
import { toShownError } from '../../api/callError.ts';
import { engine } from '../connection.ts';
import { sayError } from '../say.ts';
import { type ListedFile, withFiles } from './inspection.ts';
import { MOST_IGNORED_NAMED, pickDropped, uploadFile, type Dropped, type Sent } from '../upload.ts';

interface Upload extends Sent {
  readonly id: number;
  readonly name: string;
  /** The file has arrived and was inspected, or could not be sent. */
  readonly done: boolean;
}

interface NewRunState {
  readonly files: readonly ListedFile[];
  /** Files and hidden folders in folders that are not used: their number, and some of them. */
  readonly ignored: number;
  readonly someIgnored: readonly string[];
  /** The problem with an added sample sheet. */
  readonly sheetError: ShownError | null;
  readonly looking: boolean;
  readonly inspectError: ShownError | null;
  /** All files that are sent together, until the last of them is done. */
  readonly uploads: readonly Upload[];
  readonly choices: RunChoices;
  /** Path of the file whose details are shown. */
  readonly selected: string | null;
}

export const TEACHING_MODEL = 'teaching';

const EMPTY: NewRunState = {
  files: [],
  ignored: 0,
  someIgnored: [],
  sheetError: null,
  looking: false,
  inspectError: null,
  uploads: [],
  choices: RUN_REQUEST_DEFAULTS,
  selected: null,
};

export const useNewRun = create<NewRunState>(() => EMPTY);

let looks = 0;
let lookController = new AbortController();
let nextUpload = 1;

/** Inspects files, and files below folders, and lists them. */
export async function addPaths(paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const { signal } = lookController;
  const { repairs, minLength, geneticCode } = useNewRun.getState().choices;
  looks += 1;
  useNewRun.setState({ looking: true, inspectError: null });
  try {
    const events = await engine.runs.inspect(
      {
        paths: [...paths],
        repairs: [...repairs],
        ...(minLength === null ? {} : { minLength }),
        ...(geneticCode === null ? {} : { geneticCode }),
      },
      { signal },
    );
    for await (const event of events) {
      if (signal.aborted) return;
      if (event.type === 'sheet') takeSheet(event);
      else if (event.type === 'found') takeFound(event);
      else useNewRun.setState(({ files }) => ({ files: withFiles(files, [], event) }));
    }
  } catch (reason) {
    if (!signal.aborted) useNewRun.setState({ inspectError: toShownError(reason) });
  } finally {
    looks -= 1;
    if (looks === 0) useNewRun.setState({ looking: false });
  }
}

type Event<Type> = Extract<InspectEvent, { type: Type }>;

const takeFound = ({ paths, ignored, someIgnored }: Omit<Event<'found'>, 'type'>) =>
  useNewRun.setState((state) => ({
    files: withFiles(state.files, paths),
    ignored: state.ignored + ignored,
    someIgnored: [...state.someIgnored, ...someIgnored],
  }));

/** A usable sheet replaces an earlier one, and names given by hand. */
function takeSheet({ path, rows, error }: Event<'sheet'>): void {
  useNewRun.setState({ sheetError: error });
  if (!error) choose({ sheet: { name: fileName(path), rows }, samples: {}, details: {} });
}

export function removeSheet(): void {
  useNewRun.setState({ sheetError: null });
  choose({ sheet: null });
}

/** Inspects the files that could not be inspected before. */
export function lookAgain(): Promise<void> {
  const unseen = useNewRun.getState().files.filter((file) => file.inspected === null);
  return addPaths(unseen.map((file) => file.path));
}

/** Applies a repair to the sequences, or stops applying it. */
export function setRepair(repair: Repair, wanted: boolean): void {
  const others = useNewRun.getState().choices.repairs.filter((one) => one !== repair);
  choose({ repairs: wanted ? [...others, repair] : others });
}

function readAgain(): void {
  const paths = useNewRun.getState().files.map((file) => file.path);
  lookController.abort();
  lookController = new AbortController();
  useNewRun.setState((state) => ({
    files: state.files.map(({ path }) => ({ path, inspected: null })),
  }));
  void addPaths(paths);
}

/** Returns a function that lists them again. */
export function removeFiles(paths: readonly string[]): () => void {
  const gone = new Set(paths);
  const before = useNewRun.getState();
  useNewRun.setState((state) => ({
    files: state.files.filter((file) => !gone.has(file.path)),
    selected: state.selected !== null && gone.has(state.selected) ? null : state.selected,
  }));
  return () => {
    const isReadAlike = areReadAlike(useNewRun.getState().choices, before.choices);
    const removed = before.files.filter(({ path }) => gone.has(path));
    if (!isReadAlike || removed.some(({ inspected }) => inspected === null)) void addPaths(paths);
    else {
      const listed = new Set(useNewRun.getState().files.map(({ path }) => path));
      const back = removed.filter(({ path }) => !listed.has(path));
      useNewRun.setState(({ files }) => ({ files: [...files, ...back] }));
    }
  };
}

/** Shows a file's details, or hides them again. */
export const selectFile = (path: string) =>
  useNewRun.setState(({ selected }) => ({ selected: selected === path ? null : path }));

/** Reads the files again if the change decides what is read of them. */
export function choose(change: Partial<RunChoices>): void {
  const before = useNewRun.getState();
  const choices = { ...before.choices, ...change };
  useNewRun.setState({ choices });
  if (before.files.length > 0 && !areReadAlike(before.choices, choices)) readAgain();
}

const areReadAlike = (one: RunChoices, other: RunChoices): boolean =>
  one.repairs === other.repairs && one.minLength === other.minLength && one.geneticCode === other.geneticCode;

/** Sets the sample of every file, in order; null goes back to the names derived from file names. */
export function nameSamples(named: readonly NamedSample[] | null): void {
  const { files, choices } = useNewRun.getState();
  if (!named) {
    choose({ samples: {} });
    return;
  }
  const names = samplesOfFiles({ ...choices, samples: {} }, files);
  const known = detailsOfFiles({ ...choices, details: {} }, files);
  const samples: Record<string, string> = {};
  const details: Record<string, SampleDetails> = {};
  for (const [index, { path }] of files.entries()) {
    const { sample, ...own } = named[index] ?? { sample: names[index] ?? '', ...NO_DETAILS };
    if (sample !== names[index]) samples[path] = sample;
    if (!isSame(own, known[index] ?? NO_DETAILS)) details[path] = own;
  }
  choose({ samples, details });
}

const isSame = (one: SampleDetails, other: SampleDetails): boolean =>
  one.group === other.group && one.note === other.note && one.control === other.control;

/** Clears the screen after a start. The choices stay for the next run, except those of this run alone: its name, its folder, its goal. */
export function startOver(): void {
  lookController.abort();
  lookController = new AbortController();
  useNewRun.setState((state) => ({
    ...EMPTY,
    // The teaching model is chosen for one run at a time.
    choices: {
      ...state.choices,
      name: '',
      samples: {},
      details: {},
      sheet: null,
      repairs: [],
      minLength: null,
      geneticCode: null,
      outputDir: null,
      until: null,
      model: state.choices.model === TEACHING_MODEL ? null : state.choices.model,
    },
  }));
}

/** Adds what was dropped anywhere on the window. */
export const addDropped = (dropped: Dropped): Promise<void> =>
  dropped.kind === 'paths' ? addPaths(dropped.paths) : uploadAndAdd(dropped.files);

/** In browser mode, sends files to the engine's computer one after the other, then inspects them. */
export async function uploadAndAdd(dropped: readonly File[], send = uploadFile): Promise<void> {
  const { signal } = lookController;
  const { files, ignored } = await pickDropped(dropped);
  const someIgnored = ignored.slice(0, MOST_IGNORED_NAMED);
  takeFound({ paths: [], ignored: ignored.length, someIgnored });
  if (files.length === 0 && ignored.length > 0) {
    const inspectError = appError('no_sequences', message('input.none_in_folder'));
    useNewRun.setState({ inspectError });
  }
  const waiting = files.map(({ name, size }) => ({
    id: nextUpload++,
    name,
    bytes: size,
    fraction: 0,
    done: false,
  }));
  useNewRun.setState((state) => ({ uploads: [...state.uploads, ...waiting] }));
  for (const [position, file] of files.entries()) {
    const upload = waiting[position];
    if (!upload) continue;
    try {
      const path = await send(file, (fraction) => setUpload(upload.id, { fraction }), signal);
      await addPaths([path]);
    } catch (reason) {
      if (!signal.aborted) sayError(reason);
    } finally {
      setUpload(upload.id, { fraction: 1, done: true });
    }
  }
}

function setUpload(id: number, change: Partial<Upload>): void {
  useNewRun.setState((state) => {
    const uploads = state.uploads.map((upload) => (upload.id === id ? { ...upload, ...change } : upload));
    return { uploads: uploads.every(({ done }) => done) ? [] : uploads };
  });
}
