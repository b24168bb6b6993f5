import { EVIDENCE_RULE } from '../../../contract/evidence.ts';
import type { ExportLanguage } from '../../../contract/exports.ts';
import { demoMark } from '../../../contract/plan.ts';
import type { Column } from './columns.ts';
import type { ExportSource } from '../exportSource.ts';

/** What the second sheet of a workbook says: of the run, and how to read the columns. */
export function workbookNotes(source: ExportSource, columns: readonly Column[]): [string, string][] {
  const { language, run } = source;
  const { model, precision, chunkLength } = run.plan;
  const texts = TEXTS[language];
  const mark = demoMark(model);
  const has = (name: string): boolean => columns.some((column) => column.name === name);
  return [
    ...(mark === null ? [] : [[texts.caution, mark] as [string, string]]),
    ...(run.state.phase === 'done' ? [] : [[texts.provisional, texts.provisionalText] as [string, string]]),
    [texts.run, run.description.name],
    [texts.model, `${model.title}, ${precision}, ${texts.chunks(chunkLength)}`],
    [texts.files, run.inputs.map(({ path }) => path).join('\n')],
    [texts.score, SCORE_TEXT[language]],
    [texts.call, CALL_TEXT[language]],
    ...(has('evidence') ? [[texts.evidence, EVIDENCE_TEXT[language]] as [string, string]] : []),
    [texts.positions, texts.positionsText],
    ...(has('tags') || has('note') ? [[texts.notes, texts.notesText] as [string, string]] : []),
  ];
}

const TEXTS = {
  en: {
    caution: 'Caution',
    provisional: 'Provisional',
    provisionalText:
      'The run was not done when this was exported: sequences not computed by then are missing.',
    run: 'Run',
    model: 'Model',
    files: 'Files',
    score: 'Score',
    call: 'Call',
    evidence: 'Evidence',
    positions: 'Positions',
    positionsText: 'Count from 1; both ends belong to the chunk.',
    notes: 'Tags, note',
    notesText: 'Written on single sequences by people who looked at them; no result of the computation.',
    chunks: (length: number) => `chunks of ${length} bp`,
  },
  de: {
    caution: 'Achtung',
    provisional: 'Vorläufig',
    provisionalText:
      'Der Lauf war beim Export nicht fertig: Sequenzen, die bis dahin nicht berechnet waren, fehlen.',
    run: 'Lauf',
    model: 'Modell',
    files: 'Dateien',
    score: 'Wert',
    call: 'Einstufung',
    evidence: 'Beleglage',
    positions: 'Positionen',
    positionsText: 'Zählen ab 1; beide Enden gehören zum Stück.',
    notes: 'Schlagwörter, Notiz',
    notesText:
      'Von Menschen, die sich einzelne Sequenzen angesehen haben, dazu geschrieben; kein Ergebnis der Berechnung.',
    chunks: (length: number) => `Stücke von ${length} bp`,
  },
} as const satisfies Record<ExportLanguage, object>;

/** The same sentences stand in the report. */
export const SCORE_TEXT: Record<ExportLanguage, string> = {
  en:
    'Mean, over the scored chunks, of the highest virus score among the reading frames of each. It ranks sequences and is no ' +
    'probability: in a metagenome viruses are far rarer than they were in training. There is no calibrated false discovery rate.',
  de:
    'Mittel, über die bewerteten Stücke, des jeweils höchsten Viruswerts ihrer Leserahmen. Er ordnet die Sequenzen und ist keine ' +
    'Wahrscheinlichkeit: in einem Metagenom sind Viren weit seltener als in den Trainingsdaten. Eine geeichte Falscherkennungsrate gibt es nicht.',
};

export const CALL_TEXT: Record<ExportLanguage, string> = {
  en:
    'Virus where at least half of the scored chunks are called virus. A chunk is called what its most decided frame says: virus where ' +
    'the highest virus score of its frames is at least as high as the highest other score. The call counts chunks and the score is a mean ' +
    'of virus scores, so a sequence can be called virus with a score below 0.5, and other with one above. Not scored means that no ' +
    'chunk has a reading frame without a stop codon, not that the sequence is not viral.',
  de:
    'Virus, wenn mindestens die Hälfte der bewerteten Stücke so eingestuft ist. Ein Stück ist, was der entschiedenste seiner Rahmen sagt: ' +
    'Virus, wenn der höchste Viruswert seiner Rahmen mindestens so hoch ist wie der höchste andere Wert. Die Einstufung zählt Stücke, der ' +
    'Wert ist ein Mittel von Viruswerten; darum kann eine Sequenz mit einem Wert unter 0,5 als Virus eingestuft sein und eine mit einem ' +
    'höheren als anderes. Nicht bewertet heißt, dass kein Stück einen Leserahmen ohne Stoppcodon hat, ' +
    'nicht, dass die Sequenz nicht viral ist.',
};

const { middle, scoredChunks, strong } = EVIDENCE_RULE;

export const EVIDENCE_TEXT: Record<ExportLanguage, string> = {
  en:
    `On how much of the sequence the call rests, and whether its chunks agree; no probability. Weak: fewer than ${scoredChunks} ` +
    `scored chunks, or fewer than two thirds of them have the call, or the score lies on the other side of ${middle}. Strong: at least ` +
    `${strong.length} bp, at least ${strong.scoredChunks} scored chunks and half of all chunks, nine tenths of them with the call, and ` +
    `the second-best chunk confirms it (a virus: at least ${strong.secondScore}; other: below ${middle}). Moderate: all between.`,
  de:
    `Auf wie viel von der Sequenz die Einstufung beruht, und ob die Stücke übereinstimmen; keine Wahrscheinlichkeit. Schwach: weniger als ` +
    `${scoredChunks} bewertete Stücke, oder weniger als zwei Drittel davon haben die Einstufung, oder der Wert liegt auf der anderen Seite ` +
    `von ${german(middle)}. Stark: mindestens ${strong.length} bp, mindestens ${strong.scoredChunks} bewertete Stücke und die Hälfte aller ` +
    `Stücke, neun Zehntel davon mit der Einstufung, und das zweitbeste Stück bestätigt sie (Virus: mindestens ${german(strong.secondScore)}; ` +
    `anderes: unter ${german(middle)}). Mittel: alles dazwischen.`,
};

function german(value: number): string {
  return String(value).replace('.', ',');
}
