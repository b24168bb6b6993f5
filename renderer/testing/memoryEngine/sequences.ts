import {
  COLUMN_LIMITS,
  EVIDENCE_RULE,
  evidenceSchema,
  FRAME_NAMES,
  isTooShort,
  NOT_JUDGED,
  reasonSchema,
  SEQUENCE_COLUMNS,
  SEQUENCE_FIELDS,
  type Agreement,
  type ChunkResult,
  type Evidence,
  type SequenceFilter,
  type SequenceResult,
  type SequenceSort,
} from '../../../electron/contract/index.ts';
import { seededRandom } from './random.ts';

const CHUNK = 500;

/** The first ones have failed. */
export function madeSequences(count: number, failed: number, inputs: number, seed: number): SequenceResult[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, (_, row) =>
    madeSequence(row, row < failed, Math.floor((row * inputs) / count), random),
  );
}

export function countCalls(rows: readonly SequenceResult[]) {
  const counts = { virus: 0, others: 0, not_scored: 0, failed: 0 };
  for (const { prediction } of rows) counts[prediction] += 1;
  return counts;
}

/** Nothing in every column: null, or none where a column always has a value. */
const NO_VALUES = Object.fromEntries(
  SEQUENCE_FIELDS.map((key) => [key, SEQUENCE_COLUMNS[key].schema.safeParse(null).success ? null : 0]),
) as unknown as SequenceResult;

export const seqName = (row: number) => `k141_${(row * 7919) % 1_000_003}`;

function madeSequence(row: number, failed: boolean, input: number, random: () => number): SequenceResult {
  const length = Math.round(300 + 4000 * random() ** 3);
  const nChunks = Math.ceil(length / CHUNK);
  const name = seqName(row);
  const unscored = random() < 0.28;
  const isViral = random() < 0.18;
  const virusScore = isViral ? 1 - random() ** 2 * 0.5 : random() ** 2.2 * 0.62;
  const base = {
    ...NO_VALUES,
    row,
    seqName: name,
    header: `${name} flag=${row % 4} multi=${(1 + random() * 30).toFixed(4)} len=${length}`,
    input,
    length,
    tooShort: isTooShort(length),
    nChunks,
    settled: true,
  };
  const lost = Math.round(0.3 * nChunks);
  const traits = {
    // The end of these sequences repeats their beginning.
    terminalRepeat: row % 211 === 5 ? ('DTR' as const) : null,
    terminalRepeatLength: row % 211 === 5 ? 127 : null,
    nChunksLost: lost,
    nChunksLostToTag: 0,
    nChunksLostToTga: Math.round(0.3 * lost),
    geneticCodeHint: row % 307 === 3 ? (15 as const) : null,
  };
  if (unscored || failed) {
    return {
      ...base,
      ...traits,
      prediction: failed ? 'failed' : 'not_scored',
      reason: failed ? 'out_of_memory' : 'no_open_frame',
    };
  }
  const nChunksScored = Math.max(1, Math.round(nChunks * (0.5 + 0.5 * random())));
  const nChunksViral = Math.round(nChunksScored * Math.min(1, Math.max(0, virusScore)));
  const nBasesScored = Math.round((length * nChunksScored) / nChunks);
  const nBasesViral = Math.round((nBasesScored * nChunksViral) / nChunksScored);
  const best = Math.floor(random() * nChunks);
  const bestScore = Math.fround(Math.min(1, virusScore + 0.1 * random()));
  return {
    ...base,
    ...traits,
    virusScore: Math.fround(virusScore),
    prediction: virusScore >= 0.5 ? 'virus' : 'others',
    reason: 'ok',
    nChunksScored,
    nChunksViral,
    viralFraction: nChunksViral / nChunksScored,
    nBasesScored,
    nBasesViral,
    bestChunkStart: best * CHUNK + 1,
    bestChunkEnd: Math.min(length, (best + 1) * CHUNK),
    bestFrame: FRAME_NAMES[Math.floor(random() * 6)] ?? 'F1',
    nFramesScored: nChunksScored + Math.floor(random() * 3),
    bestScore,
    secondScore: nChunksScored < 2 ? null : Math.fround(virusScore * 0.97),
    margin: Math.fround(Math.abs(2 * virusScore - 1)),
    evidence: madeEvidence(virusScore, nBasesViral / nBasesScored, nBasesScored, length),
  };
}

/** Follows the rule roughly, so that what is shown of a sequence is consistent. */
function madeEvidence(score: number, viral: number, scored: number, length: number): Evidence {
  const { scoredChunkLengths, agreement, strong } = EVIDENCE_RULE;
  const agreeing = score >= 0.5 ? viral : 1 - viral;
  if (isTooShort(length) || scored < scoredChunkLengths * CHUNK || agreeing < agreement) return 'weak';
  const isStrong = scored >= strong.scoredBases && agreeing >= strong.agreement;
  return isStrong && Math.max(score, 1 - score) >= strong.score ? 'strong' : 'moderate';
}

/** As many scored and viral chunks as the sequence says, from its best chunk on. */
export function madeChunks(sequence: SequenceResult): ChunkResult[] {
  const random = seededRandom(sequence.row + 17);
  const { length, nChunks, nChunksScored, nChunksViral, bestChunkStart, bestFrame, virusScore } = sequence;
  const bestChunk = Math.floor((bestChunkStart ?? 0) / CHUNK);
  return Array.from({ length: nChunks }, (_, chunk) => {
    const place = { chunk, start: chunk * CHUNK + 1, end: Math.min(length, (chunk + 1) * CHUNK) };
    const rank = (chunk - bestChunk + nChunks) % nChunks;
    if (virusScore === null || rank >= nChunksScored)
      return { ...place, ...NOT_JUDGED, reason: 'no_open_frame' };
    const isVirus = rank < nChunksViral;
    const top = (isVirus ? 0.5 : 0) + 0.4998 * Math.min(1, virusScore * (0.8 + 0.4 * random()));
    const best = (rank === 0 ? bestFrame : null) ?? FRAME_NAMES[Math.floor(random() * 6)] ?? 'F1';
    const others = FRAME_NAMES.filter((frame) => frame !== best && random() < 0.3).slice(0, 2);
    const frames = FRAME_NAMES.filter((frame) => frame === best || others.includes(frame)).map((frame) => {
      const score2 = frame === best ? top : top * random();
      return { frame, score1: 1 - score2, score2 };
    });
    const scores = { score1: 1 - top, score2: top, virusScore: top };
    return { ...place, ...scores, frames, bestFrame: best, isVirus, judgedBy: CHUNK, reason: 'ok' };
  });
}

export function madeRibbon(sequence: SequenceResult): number[] {
  const chunks = sequence.virusScore === null ? [] : madeChunks(sequence);
  return chunks.map(({ score2, isVirus }) =>
    score2 === null ? 0 : Math.max(1, Math.round(100 * score2)) * (isVirus ? 1 : -1),
  );
}

export function madeLetters(sequence: SequenceResult): { record: string; protein: string | null } {
  const random = seededRandom(sequence.row + 29);
  const made = (alphabet: string, length: number) =>
    Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('');
  const { seqName, bestFrame, bestChunkStart, bestChunkEnd, prediction } = sequence;
  const facts = `chunk=${bestChunkStart}-${bestChunkEnd} frame=${bestFrame} call=${prediction}`;
  return {
    record: `>${sequence.header}\n${made('ACGT', sequence.length)}\n`,
    protein:
      bestFrame === null
        ? null
        : `>${seqName}_chunk_1${bestFrame} ${facts}\n${made('ACDEFGHIKLMNPQRSTVWY', 166)}\n`,
  };
}

export function filteredSequences(all: readonly SequenceResult[], filter: SequenceFilter): SequenceResult[] {
  const search = filter.search?.toLowerCase();
  return all.filter(
    (row) =>
      (filter.input === undefined || row.input === filter.input) &&
      (filter.predictions === undefined || filter.predictions.includes(row.prediction)) &&
      COLUMN_LIMITS.every(({ key, how, field }) => {
        const [value, limit] = [row[key], filter[field]];
        return limit === undefined || (typeof value === 'number' && HOLDS[how](value, limit));
      }) &&
      (filter.settled === undefined || row.settled === filter.settled) &&
      (filter.inputs === undefined || filter.inputs.includes(row.input)) &&
      (!filter.terminalRepeat || row.terminalRepeat !== null) &&
      (!filter.otherCode || row.geneticCodeHint !== null) &&
      (filter.reasons === undefined || filter.reasons.includes(row.reason)) &&
      (filter.evidence === undefined || (row.evidence !== null && filter.evidence.includes(row.evidence))) &&
      (filter.other === undefined || hasAgreement(row, filter.other.agreement)) &&
      (search === undefined || row.header.toLowerCase().includes(search)),
  );
}

const HOLDS = {
  '>=': (value: number, limit: number) => value >= limit,
  '<=': (value: number, limit: number) => value <= limit,
  '<': (value: number, limit: number) => value < limit,
};

/** What another tool would call it: mostly the same. Null if its table does not name the sequence. */
export function saidByOther({ row, prediction }: SequenceResult): { isVirus: boolean; text: string } | null {
  const isVirus = prediction === 'virus' ? row % 6 !== 0 : row % 29 === 0;
  return isVirus
    ? { isVirus, text: `0.9${row % 90} · Viruses;Duplodnaviria;Heunggongvirae;Uroviricota;Caudoviricetes` }
    : null;
}

function hasAgreement(row: SequenceResult, agreement: Agreement): boolean {
  const theirs = saidByOther(row);
  const isOurs = row.prediction === 'virus';
  switch (agreement) {
    case 'both':
      return isOurs && theirs?.isVirus === true;
    case 'only_ours':
      return isOurs && theirs?.isVirus === false;
    case 'only_theirs':
      return !isOurs && theirs?.isVirus === true;
    case 'no_call':
      return false;
    case 'not_in_table':
      return theirs === null;
  }
}

export function sortedSequences(rows: readonly SequenceResult[], sort: SequenceSort): SequenceResult[] {
  const direction = sort.descending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [sortValue(a, sort.by), sortValue(b, sort.by)];
    if (x === y && sort.by === 'evidence')
      return ((a.virusScore ?? 0) - (b.virusScore ?? 0)) * direction || a.row - b.row;
    if (x === y) return a.row - b.row;
    if (x === null) return 1;
    if (y === null) return -1;
    return (x < y ? -1 : 1) * direction;
  });
}

function sortValue(row: SequenceResult, by: SequenceSort['by']) {
  if (by === 'reason') return row.reason === 'ok' ? null : reasonSchema.options.indexOf(row.reason);
  if (by !== 'evidence') return row[by];
  const level = row.evidence && evidenceSchema.options.indexOf(row.evidence) + 1;
  return level && (row.prediction === 'virus' ? level : -level);
}
