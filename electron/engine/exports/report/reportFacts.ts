import type { SequenceResult } from '../../../contract/columns.ts';
import type { OtherSays } from '../../../contract/otherTools.ts';
import { join } from 'node:path';
import { z } from 'zod';
import { CANDIDATES } from '../../../contract/evidence.ts';
import type { ReportList } from '../../../contract/exports.ts';
import type { SequenceFilter } from '../../../contract/filter.ts';
import type { ExpectedShares } from '../../../contract/rpc/runs.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import { RESULT_FILES } from '../../../contract/results.ts';
import { isPlainFile, readPlain } from '../../system/runFiles.ts';
import { markedRows } from '../../store/shortlist.ts';
import type { RunStore } from '../../store/runStore.ts';
import type { RunTimings, StoredRun } from '../../store/types.ts';
import type { ExportSource } from '../exportSource.ts';
import { otherText } from '../otherTools/joinOtherTable.ts';
import type { LengthBin, SamplesFound } from '../../../contract/rpc/results.ts';
import { expectedShares, samplesFound } from '../samples.ts';

const SCORE_BINS = 50;
/** Bins of length in bp; the last one is open-ended. */
export const LENGTH_EDGES = [0, 300, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000];
const MOST_TOP = 50;
/** The user's own choice is not cut so soon. */
const MOST_SHORTLISTED = 500;
const MOST_RUN_JSON_BYTES = 2 ** 27;

/** Facts that only run.json has. */
const runJsonSchema = z.object({
  versions: z.record(z.string(), z.string().nullable()),
});

/** All facts of a report, before they are turned into text. */
export interface ReportFacts {
  run: StoredRun;
  timings: RunTimings;
  found: SamplesFound;
  /** Of a run that stopped at its goal: what is known of the whole, and how many calls stand. */
  enough: { shares: ExpectedShares; settled: number; unsettled: number } | null;
  inputNames: readonly string[];
  top: SequenceResult[];
  /** The list that `top` is from. */
  topOf: ReportList;
  /** The sequences with each score, and with each length, outside of the negative controls, as all totals of the report. */
  scores: { virus: number[]; others: number[] };
  lengths: LengthBin[];
  /** The scores along each sequence of `top`. */
  ribbons: readonly (readonly number[])[];
  topTotal: number;
  /** What the table of each other tool says about the sequences of `top`. */
  others: readonly { title: string; says: readonly (OtherSays | null)[] }[];
  versions: Record<string, string | null>;
}

export async function reportFacts(source: ExportSource): Promise<ReportFacts> {
  const { store, run } = source;
  const found = await samplesFound(store, run);
  const top = await topSequences(source);
  const filter =
    found.inControls === null
      ? {}
      : { inputs: found.items.flatMap(({ control, inputs }) => (control ? [] : inputs)) };
  return {
    run,
    timings: await store.timings(),
    enough: run.state.phase === 'paused' && run.state.enough ? await knownOf(store) : null,
    found,
    inputNames: source.inputNames,
    ...top,
    scores: await store.scoreBins({ filter }, SCORE_BINS),
    lengths: await store.lengthBins({ filter }, LENGTH_EDGES),
    ribbons: await store.ribbonsOf(top.top.map(({ row, nChunks }) => ({ row, nChunks }))),
    others: source.others.map((joined) => ({
      title: joined.table.title,
      says: top.top.map(({ row }) => otherText(joined, row)),
    })),
    versions: readRunJson(store.folder)?.versions ?? { app: run.description.appVersion },
  };
}

async function knownOf(store: RunStore): Promise<ReportFacts['enough']> {
  const { byPrediction, unsettled } = await store.countPredictions({ filter: {} });
  const shares = await expectedShares(store);
  return shares && { shares, settled: byPrediction.virus + byPrediction.others - unsettled, unsettled };
}

const LISTS: Record<ReportList, SequenceFilter> = {
  shortlist: { shortlisted: true },
  candidates: CANDIDATES,
  virus: { predictions: ['virus'] },
};

/** The first sequences of the list that was chosen, else of the candidates, or of all that are called virus if there are none. */
async function topSequences({
  store,
  reportList,
}: ExportSource): Promise<Pick<ReportFacts, 'top' | 'topOf' | 'topTotal'>> {
  const order = { by: 'evidence', descending: true } as const;
  for (const topOf of reportList ? [reportList] : (['candidates', 'virus'] as const)) {
    const selection = { filter: LISTS[topOf], ...markedRows(store.folder, LISTS[topOf]) };
    const most = topOf === 'shortlist' ? MOST_SHORTLISTED : MOST_TOP;
    const { items, total } = await store.findSequences(selection, order, 0, most);
    if (total > 0) return { top: items, topOf, topTotal: total };
  }
  return { top: [], topOf: reportList ?? 'virus', topTotal: 0 };
}

function readRunJson(folder: string): z.output<typeof runJsonSchema> | undefined {
  const path = join(folder, RESULT_FILES.run);
  const bytes = isPlainFile(path) ? readPlain(path, MOST_RUN_JSON_BYTES) : null;
  return bytes === null ? undefined : parseJson(runJsonSchema, bytes.toString('utf8'));
}
