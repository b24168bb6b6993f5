import type { SequenceResult, SequenceSort } from '../../contract/columns.ts';
import type { ExportLanguage, ReportList } from '../../contract/exports.ts';
import type { FrameName } from '../../contract/results.ts';
import { frameBounds } from '../results/sequenceTally.ts';
import { inputLabels } from '../results/cellText.ts';
import type { ScoredChunk } from '../results/types.ts';
import { modelMark } from '../../contract/plan.ts';
import type { RunStore } from '../store/runStore.ts';
import type { SequenceSelection } from '../store/duckdb/selection.ts';
import type { StoredRun } from '../store/types.ts';
import type { JoinedTable } from './otherTools/joinOtherTable.ts';
import { detailsOf, samplesOf } from './samples.ts';

/** Rows requested at once: the window's own queries are answered in between. */
const PAGE_ROWS = 2000;
/** Chunks requested at once; a sequence with more is requested alone. */
const PAGE_CHUNKS = 4000;

interface ExportProgress {
  done: number;
  total: number;
}

export interface SourceOptions {
  language: ExportLanguage;
  /** Tables of other tools whose columns come after ours. */
  others?: readonly JoinedTable[] | undefined;
  /** The sequences that a report lists; if absent, the candidates, or all that are called virus if there are none. */
  reportList?: ReportList | undefined;
  /** The columns of a table, as the contract names them; all if none are given. */
  columns?: readonly string[] | undefined;
  onProgress?: ((progress: ExportProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * The selected sequences of a run in the requested order, with the facts about the run that every export
 * includes.
 */
export class ExportSource {
  readonly store: RunStore;
  readonly run: StoredRun;
  /** The number of selected sequences. */
  readonly count: number;
  /** Asked for once, by formats that need it: several places of an export use it. */
  #order: Promise<Uint32Array> | undefined;
  readonly selection: SequenceSelection;
  readonly sort: SequenceSort;
  readonly language: ExportLanguage;
  /** For each input: a name that distinguishes it from the others, and its sample. */
  readonly inputNames: readonly string[];
  readonly samples: readonly string[];
  readonly sampleDetails: ReturnType<typeof detailsOf>;
  readonly others: readonly JoinedTable[];
  private readonly options: SourceOptions;

  private constructor(
    store: RunStore,
    run: StoredRun,
    { count, selection, sort }: Pick<ExportSource, 'count' | 'selection' | 'sort'>,
    options: SourceOptions,
  ) {
    this.store = store;
    this.run = run;
    this.count = count;
    this.selection = selection;
    this.sort = sort;
    this.options = options;
    this.language = options.language;
    this.inputNames = inputLabels(run.inputs.map(({ path }) => path));
    this.samples = samplesOf(run);
    this.sampleDetails = detailsOf(run);
    this.others = options.others ?? [];
  }

  static async open(
    store: RunStore,
    selection: SequenceSelection,
    sort: SequenceSort,
    options: SourceOptions,
  ): Promise<ExportSource> {
    const run = await store.loadRun();
    const { total: count } = await store.countPredictions(selection);
    return new ExportSource(store, run, { count, selection, sort }, options);
  }

  /** Row numbers in the requested order. */
  order(): Promise<Uint32Array> {
    return (this.#order ??= this.store.selectedRows(this.selection, this.sort));
  }

  /** A model that is not for research is named in every table. */
  showsColumn(name: string): boolean {
    const { columns } = this.options;
    return (
      columns === undefined ||
      columns.includes(name) ||
      (name === 'model' && modelMark(this.run.plan.model) !== null)
    );
  }

  get reportList(): ReportList | undefined {
    return this.options.reportList;
  }

  get signal(): AbortSignal | undefined {
    return this.options.signal;
  }

  /** Throws if the export was cancelled. */
  report(done: number): void {
    this.options.signal?.throwIfAborted();
    this.options.onProgress?.({ done, total: this.count });
  }

  async *pages(): AsyncGenerator<SequenceResult[]> {
    const order = await this.order();
    for (let begin = 0; begin < order.length; begin += PAGE_ROWS) {
      this.report(begin);
      yield await this.store.sequencesOf(order.slice(begin, begin + PAGE_ROWS));
    }
    this.report(this.count);
  }

  async *sequences(): AsyncGenerator<SequenceResult> {
    for await (const page of this.pages()) yield* page;
  }

  async *sequencesWithChunks(): AsyncGenerator<{ sequence: SequenceResult; chunks: ScoredChunk[] }> {
    for await (const page of this.pages()) {
      for (let begin = 0; begin < page.length;) {
        let end = begin;
        for (let chunks = 0; end < page.length && (end === begin || chunks < PAGE_CHUNKS); end++)
          chunks += page[end]!.nChunksScored;
        const group = page.slice(begin, end);
        const chunks = await this.store.scoredChunksOf(Uint32Array.from(group, ({ row }) => row));
        for (const [i, sequence] of group.entries()) yield { sequence, chunks: chunks[i] ?? [] };
        begin = end;
        this.options.signal?.throwIfAborted();
      }
    }
  }

  /**
   * The position of a chunk in a sequence, or of the shorter chunk of it in which the frame lies: 0-based,
   * half-open.
   */
  bounds(
    { length }: Pick<SequenceResult, 'length'>,
    chunk: number,
    frame: FrameName = 'F1',
  ): { start: number; end: number } {
    return frameBounds(length, this.run.plan, chunk, frame);
  }
}
