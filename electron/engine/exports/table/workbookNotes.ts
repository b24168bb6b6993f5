import { sequenceColumn, type ColumnKey } from '../../../contract/columns.ts';
import { EVIDENCE_RULE, SHORTEST_LENGTH, undecidedUpTo } from '../../../contract/evidence.ts';
import type { ExportLanguage } from '../../../contract/exports.ts';
import { chunkLengthsText, modelMark, type Plan } from '../../../contract/plan.ts';
import type { Column } from './columns.ts';
import type { ExportSource } from '../exportSource.ts';

/** Those that have a value. */
const written = (notes: readonly (readonly [label: string, text: string | null])[]) =>
  notes.flatMap(([label, text]): [string, string][] => (text === null ? [] : [[label, text]]));

/** The last sheet of a workbook: facts about the run, and how to read the columns. */
export function workbookNotes(source: ExportSource, columns: readonly Column[]): [string, string][] {
  const { language, run } = source;
  const { model, precision } = run.plan;
  const texts = TEXTS[language];
  const has = (name: string): boolean => columns.some((column) => column.name === name);
  return written([
    [texts.caution, modelMark(model)],
    [texts.provisional, run.state.phase === 'done' ? null : texts.provisionalText],
    [texts.run, run.description.name],
    [
      sequenceColumn('model')[language][0],
      `${model.title}, ${precision}, ${texts.chunks(chunkLengthsText(run.plan))}`,
    ],
    [texts.files, run.inputs.map(({ path }) => path).join('\n')],
    ...howToRead(language, run.plan, has),
    [texts.positions, texts.positionsText],
  ]);
}

/** How to read the score, the call, and those of these columns that a table has. */
export function howToRead(
  language: ExportLanguage,
  plan: Plan,
  has: (column: 'evidence' | 'p_value' | 'pair_score') => boolean,
): [string, string][] {
  const heading = (key: ColumnKey) => sequenceColumn(key)[language][0];
  return written([
    [heading('virusScore'), SCORE_TEXT[language]],
    [heading('prediction'), CALL_TEXT[language]],
    [heading('evidence'), has('evidence') ? evidenceText(language, plan) : null],
    [heading('pValue'), has('p_value') ? pValueText(language, plan.trusted?.file ?? '') : null],
    [TEXTS[language].pair, has('pair_score') ? PAIR_TEXT[language] : null],
  ]);
}

const TEXTS = {
  en: {
    caution: 'Caution',
    provisional: 'Provisional',
    provisionalText:
      'The run was not done when this was exported: sequences not computed by then are missing.',
    run: 'Run',
    files: 'Files',
    pair: 'Read pair',
    positions: 'Positions',
    positionsText: 'Count from 1; both ends belong to the chunk.',
    chunks: (length: string) => `chunks of ${length} bp`,
  },
  de: {
    caution: 'Achtung',
    provisional: 'Vorläufig',
    provisionalText:
      'Der Lauf war beim Export nicht fertig: Sequenzen, die bis dahin nicht berechnet waren, fehlen.',
    run: 'Lauf',
    files: 'Dateien',
    pair: 'Read-Paar',
    positions: 'Positionen',
    positionsText: 'Zählen ab 1; beide Enden gehören zum Stück.',
    chunks: (length: string) => `Stücke von ${length} bp`,
  },
} as const satisfies Record<ExportLanguage, object>;

const SCORE_TEXT: Record<ExportLanguage, string> = {
  en:
    'A chunk has the virus score of its most decided reading frame. The score of a sequence is the mean over its scored chunks, each ' +
    'weighted by the bases that no scored chunk before it covers. It ranks sequences and is no probability: in a metagenome viruses ' +
    'are far rarer than they were in training. There is no calibrated false discovery rate.',
  de:
    'Ein Stück hat den Viruswert seines entschiedensten Leserahmens. Der Wert einer Sequenz ist das Mittel über ihre bewerteten Stücke, ' +
    'jedes gewichtet mit den Basen, die kein bewertetes Stück davor abdeckt. Er ordnet die Sequenzen und ist keine Wahrscheinlichkeit: in ' +
    'einem Metagenom sind Viren weit seltener als in den Trainingsdaten. Eine geeichte Falscherkennungsrate gibt es nicht.',
};

const CALL_TEXT: Record<ExportLanguage, string> = {
  en:
    'Virus from a score of 0.5 on, other below. A chunk is called what its most decided frame says: virus where the highest virus ' +
    'score of its frames is at least as high as the highest other score. Not scored means that no chunk has a reading frame without ' +
    `a stop codon, not that the sequence is not viral. Shorter than ${SHORTEST_LENGTH} bp is too short to be believed.`,
  de:
    'Virus ab einem Wert von 0,5, anderes darunter. Ein Stück ist, was der entschiedenste seiner Rahmen sagt: Virus, wenn der höchste ' +
    'Viruswert seiner Rahmen mindestens so hoch ist wie der höchste andere Wert. Nicht bewertet heißt, dass kein Stück einen ' +
    'Leserahmen ohne Stoppcodon hat, nicht, dass die Sequenz nicht viral ist. ' +
    `Was kürzer ist als ${SHORTEST_LENGTH} bp, ist zu kurz, um sich darauf zu verlassen.`,
};

/** What a p-value is of, and what must hold for it. */
function pValueText(language: ExportLanguage, file: string): string {
  return {
    en:
      `How often one of the sequences in ${file}, which the user trusts to be no viruses, scores as high, among those of about the same ` +
      'length. It holds as far as the sequences that are no viruses here resemble those. It is not the chance that a sequence is no virus; ' +
      'among thousands of sequences, small p-values arise by chance.',
    de:
      `Wie oft eine der Sequenzen in ${file}, die nach Angabe des Benutzers keine Viren sind, einen so hohen Wert hat, unter denen von etwa ` +
      'gleicher Länge. Er gilt, soweit das, was hier kein Virus ist, diesen Sequenzen gleicht. Er ist nicht die Wahrscheinlichkeit, dass ' +
      'eine Sequenz kein Virus ist; unter Tausenden entstehen kleine p-Werte durch Zufall.',
  }[language];
}

const PAIR_TEXT: Record<ExportLanguage, string> = {
  en:
    'One call of both reads of a pair: the mean of their scores, weighted by their scored bases, virus from 0.5 on. A read without a call ' +
    'adds nothing. Counts, shares and evidence are those of the single reads.',
  de:
    'Eine Einstufung aus beiden Reads eines Paars: das Mittel ihrer Werte, gewichtet mit ihren bewerteten Basen, Virus ab 0,5. Ein Read ' +
    'ohne Einstufung trägt nichts bei. Anzahlen, Anteile und Beleglage sind die der einzelnen Reads.',
};

/** What every run says of its evidence levels. */
function evidenceText(language: ExportLanguage, plan: Plan): string {
  const { scoredChunkLengths, strong } = EVIDENCE_RULE;
  const weakBases = scoredChunkLengths * plan.chunkLength;
  const decimals = (value: number): string =>
    value.toLocaleString(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const [precision, limit] = [
    plan.precision.toUpperCase(),
    undecidedUpTo(plan).toLocaleString(language, { maximumSignificantDigits: 2 }),
  ];
  const [score, otherScore] = [decimals(strong.score), decimals(1 - strong.score)];
  return {
    en:
      'On how much of the sequence the call rests, and whether its chunks agree; no probability. Bases count once, however many chunks ' +
      `they lie in. Weak: less than ${weakBases} bp are scored, or fewer than two thirds of these bases have the call, or the sequence ` +
      `is shorter than ${SHORTEST_LENGTH} bp. Strong: at least ${strong.scoredBases} bp and half of the sequence are scored, nine tenths of these ` +
      `bases have the call, and the score is at least ${score} (virus) or at most ${otherScore} (other). Moderate: all between. ` +
      `Undecided: the margin is at most ${limit}, so that rounding in ${precision} can turn the call.`,
    de:
      'Auf wie viel von der Sequenz die Einstufung beruht, und ob die Stücke übereinstimmen; keine Wahrscheinlichkeit. Basen zählen einmal, in ' +
      `wie vielen Stücken sie auch liegen. Schwach: weniger als ${weakBases} bp sind bewertet, oder weniger als zwei Drittel dieser Basen ` +
      `haben die Einstufung, oder die Sequenz ist kürzer als ${SHORTEST_LENGTH} bp. Stark: mindestens ${strong.scoredBases} bp und die Hälfte der ` +
      `Sequenz sind bewertet, neun Zehntel dieser Basen haben die Einstufung, und der Wert ist mindestens ${score} (Virus) oder höchstens ` +
      `${otherScore} (anderes). Mittel: alles dazwischen. Unentschieden: Der Abstand ist höchstens ${limit}, sodass Rundung in ${precision} die ` +
      'Einstufung umkehren kann.',
  }[language];
}
