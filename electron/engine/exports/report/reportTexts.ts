import type { ExportLanguage } from '../../../contract/exports.ts';
import type { Plan } from '../../../contract/plan.ts';
import { STANDARD_GENETIC_CODE } from '../../../contract/protocol/common.ts';

interface MethodsFacts {
  plan: Plan;
  app: string;
  torch: string | null;
  sequences: string;
  hasControls: boolean;
  files: number;
  virus: string;
  scored: string;
}

/** Norm bands are known only for the published encoders. */
const esm2Of = ({ model }: Plan): string => (model.normBands ? 'ESM-2 3B' : 'ESM-2');
const hashOf = ({ model }: Plan): string => model.hash.slice(0, 12);
const codeOf = ({ geneticCode }: Plan): number => geneticCode ?? STANDARD_GENETIC_CODE;

const en = {
  title: (name: string) => `${name}: viral sequences`,
  notForResearch: 'Not for research',
  marked: (title: string) =>
    `Made with "${title}", which serves to learn the program and to check it. No conclusion may rest on this report.`,
  made: (date: string) => `Report of ${date}`,
  leftOut: (files: string, all: string) =>
    `${files} of ${all} files could not be used; nothing below is about them:`,
  notAll:
    'Something is missing from these files or from their results (failed_records.tsv names every damaged record):',
  unfinished:
    'Provisional: this run was not done. Sequences that were not computed by then are missing from all counts.',
  enough: (goal: string, done: string, total: string) =>
    `The run stopped when its goal was reached (${goal}): ${done} of ${total} reading frames are computed, and the rest is not. Calls that may change with the rest are marked.`,
  calls: (settled: string, unsettled: string) => `${settled} calls stand; ${unsettled} may change.`,
  shareToCome: 'Share called virus that the whole run would show',
  restsOn: 'Rests on',
  basis: {
    sequences: (part: string, whole: string) => `${part} of ${whole} sequences`,
    chunks: (part: string, whole: string) => `${part} of ${whole} chunks`,
  },
  what: 'What was run',
  chunks: 'Chunk length',
  precision: 'Precision',
  controls: 'Last check of the model when it began',
  repairs: 'Mended while reading',
  repair: {
    read_u_as_t: 'U is read as T',
    remove_gaps: 'gaps are removed',
    whole_headers_as_names: 'whole header lines are the names',
  },
  devices: 'Computed on',
  begun: 'Begun',
  ended: 'Last change',
  working: 'Computing time',
  program: 'Program',
  size: 'Size',
  samples: 'Samples',
  controlNote:
    'Control: nothing viral is expected in it. What is called virus there is contamination or error, and the viral shares of the others are to be read against it.',
  shareNote: 'Viral share: of the sequences that have a call, how many are called virus. Not an abundance.',
  total: 'All',
  totalOutsideControls: 'All but controls',
  top: 'Top of the list',
  topIntro: {
    shortlist: (shown: number, total: string) =>
      `${shown} of the ${total} sequences on the shortlist of whoever made this report, the best evidence first.`,
    candidates: (shown: number, total: string) =>
      `${shown} of ${total} candidates (called virus on moderate or strong evidence, at least 1,000 bp), the best evidence first.`,
    virus: (shown: number, total: string) =>
      `${shown} of the ${total} sequences called virus, the best evidence first.`,
  },
  along: 'Along the sequence',
  lookedAgain: 'A mark at the top of a bar: shorter chunks were judged there.',
  inWords: 'In words',
  notVirus: 'not a virus',
  topNone: 'This list has no sequence.',
  distributions: 'Distributions',
  scores: 'Sequences by virus score',
  upTo: (most: string) => `Each bar is a fiftieth of the scale; the highest has ${most} sequences.`,
  byLength: 'Calls by length',
  notScoredShare: 'Share not scored',
  reading: 'How to read it',
  limits: 'Limits',
  limitList: [
    'Confirm what matters with an independent method, such as geNomad or CheckV for contigs of 2.5 kb and more, or BLAST.',
    'Reads shorter than the chunk length are scored on a single, shorter chunk than the classifier was trained on.',
    'The method names no taxon and finds no borders of a provirus.',
  ],
  methods: 'Methods, to copy',
  methodsText: ({ plan, ...facts }: MethodsFacts) =>
    `Viral sequences were identified with VirNucPro [1] as implemented in VirNucPro Desktop ${facts.app}` +
    `${facts.torch === null ? '' : ` (PyTorch ${facts.torch})`}. ${facts.sequences} sequences from ${facts.files} ` +
    `${facts.files === 1 ? 'file' : 'files'} were cut into overlapping chunks of ${plan.chunkLength} bp, which were translated in six ` +
    `reading frames by NCBI's genetic code ${codeOf(plan)}. ${plan.minLength === undefined ? '' : `Sequences shorter than ${plan.minLength} bp were left out. `}` +
    `Frames without a stop codon were embedded with ${esm2Of(plan)} [2] and DNABERT-S [3] and scored by the classifier ` +
    `"${plan.model.title}" (SHA-256 ${hashOf(plan)}) in ${plan.precision.toUpperCase()} precision. ` +
    (plan.secondLook
      ? `A chunk without such a frame was cut anew, in the same way, into chunks of ${plan.secondLook.chunkLength} bp, whose frames ` +
        `${plan.secondLook.model ? `the classifier "${plan.secondLook.model.title}"` : 'the same classifier'} scored; of it, only those chunks with a frame counted. `
      : '') +
    `A chunk took the virus score of the frame most decided for either class. A sequence was called viral where the mean of its chunks' scores, each weighted by the bases ` +
    `not covered by an earlier scored chunk, was at least 0.5. Of ${facts.scored} sequences that could be scored${facts.hasControls ? ' outside of the controls' : ''}, ${facts.virus} were called viral.`,
  importedMethods: (esm2: string, dnabertS: string, frames: string) =>
    ` Embeddings by ESM-2 of ${esm2} and by DNABERT-S of ${dnabertS} of the ${frames} reading frames were taken over from an earlier run of VirNucPro.`,
  citations: 'Please cite',
};

const de: typeof en = {
  title: (name) => `${name}: virale Sequenzen`,
  notForResearch: 'Nicht für die Forschung',
  marked: (title: string) =>
    `Mit „${title}“ gerechnet, das zum Kennenlernen und Prüfen des Programms dient. Kein Schluss darf sich auf diesen Bericht stützen.`,
  made: (date) => `Bericht vom ${date}`,
  leftOut: (files, all) =>
    `${files} von ${all} Dateien waren nicht verwendbar; nichts unten handelt von ihnen:`,
  notAll:
    'Diesen Dateien oder ihren Ergebnissen fehlt etwas (failed_records.tsv nennt jeden beschädigten Eintrag):',
  unfinished:
    'Vorläufig: dieser Lauf war nicht fertig. Sequenzen, die bis dahin nicht berechnet waren, fehlen in allen Zahlen.',
  enough: (goal, done, total) =>
    `Der Lauf hielt an, als sein Ziel erreicht war (${goal}): ${done} von ${total} Leserahmen sind berechnet, der Rest nicht. Einstufungen, die sich mit dem Rest noch ändern können, sind gekennzeichnet.`,
  calls: (settled, unsettled) => `${settled} Einstufungen stehen fest; ${unsettled} können sich ändern.`,
  shareToCome: 'Als Virus eingestufter Anteil, den der ganze Lauf zeigen würde',
  restsOn: 'Beruht auf',
  basis: {
    sequences: (part, whole) => `${part} von ${whole} Sequenzen`,
    chunks: (part, whole) => `${part} von ${whole} Stücken`,
  },
  what: 'Was gerechnet wurde',
  chunks: 'Länge der Stücke',
  precision: 'Genauigkeit',
  controls: 'Letzte Prüfung des Modells vor dem Lauf',
  repairs: 'Beim Lesen berichtigt',
  repair: {
    read_u_as_t: 'U gilt als T',
    remove_gaps: 'Lücken sind entfernt',
    whole_headers_as_names: 'ganze Kopfzeilen sind die Namen',
  },
  devices: 'Gerechnet auf',
  begun: 'Begonnen',
  ended: 'Letzte Änderung',
  working: 'Rechenzeit',
  program: 'Programm',
  size: 'Größe',
  samples: 'Proben',
  controlNote:
    'Kontrolle: In ihr wird nichts Virales erwartet. Was dort als Virus gilt, ist Verunreinigung oder Irrtum; die viralen Anteile der anderen sind daran zu messen.',
  shareNote: 'Viraler Anteil: wie viele der eingestuften Sequenzen als Virus gelten. Keine Häufigkeit.',
  total: 'Alle',
  totalOutsideControls: 'Alle außer Kontrollen',
  top: 'Spitze der Liste',
  topIntro: {
    shortlist: (shown, total) =>
      `${shown} der ${total} Sequenzen in der engeren Wahl derer, die diesen Bericht gemacht haben; die beste Beleglage zuerst.`,
    candidates: (shown, total) =>
      `${shown} von ${total} Kandidaten (als Virus eingestuft, Beleglage mittel oder stark, mindestens 1.000 bp); die beste Beleglage zuerst.`,
    virus: (shown, total) =>
      `${shown} der ${total} als Virus eingestuften Sequenzen; die beste Beleglage zuerst.`,
  },
  along: 'Entlang der Sequenz',
  lookedAgain: 'Eine Marke über einem Balken: Dort sind kürzere Stücke beurteilt.',
  inWords: 'In Worten',
  notVirus: 'kein Virus',
  topNone: 'Diese Liste hat keine Sequenz.',
  distributions: 'Verteilungen',
  scores: 'Sequenzen nach Viruswert',
  upTo: (most) => `Jeder Balken ist ein Fünfzigstel der Skala; der höchste hat ${most} Sequenzen.`,
  byLength: 'Einstufungen nach Länge',
  notScoredShare: 'Anteil nicht bewertet',
  reading: 'So ist es zu lesen',
  limits: 'Grenzen',
  limitList: [
    'Bestätigen Sie, worauf es ankommt, mit einem unabhängigen Verfahren, etwa geNomad oder CheckV für Contigs ab 2,5 kb, oder BLAST.',
    'Reads, die kürzer als ein Stück sind, werden nach einem einzigen, kürzeren Stück bewertet als der Klassifikator im Training sah.',
    'Das Verfahren nennt kein Taxon und findet keine Grenzen eines Provirus.',
  ],
  methods: 'Methoden, zum Kopieren',
  methodsText: ({ plan, ...facts }) =>
    `Virale Sequenzen wurden mit VirNucPro [1] bestimmt, wie VirNucPro Desktop ${facts.app} es rechnet` +
    `${facts.torch === null ? '' : ` (PyTorch ${facts.torch})`}. ${facts.sequences} Sequenzen aus ${facts.files} ` +
    `${facts.files === 1 ? 'Datei' : 'Dateien'} wurden in überlappende Stücke von ${plan.chunkLength} bp geteilt und diese in sechs ` +
    `Leserahmen nach dem genetischen Code ${codeOf(plan)} des NCBI übersetzt. ${plan.minLength === undefined ? '' : `Kürzere Sequenzen als ${plan.minLength} bp blieben außen vor. `}` +
    `Rahmen ohne Stoppcodon wurden mit ${esm2Of(plan)} [2] und DNABERT-S [3] eingebettet und vom Klassifikator ` +
    `„${plan.model.title}“ (SHA-256 ${hashOf(plan)}) mit der Genauigkeit ${plan.precision.toUpperCase()} bewertet. ` +
    (plan.secondLook
      ? `Ein Stück ohne einen solchen Rahmen wurde auf dieselbe Weise in Stücke von ${plan.secondLook.chunkLength} bp geteilt, deren Rahmen ` +
        `${plan.secondLook.model ? `der Klassifikator „${plan.secondLook.model.title}“` : 'derselbe Klassifikator'} bewertete; von ihm zählten nur die Stücke mit einem Rahmen. `
      : '') +
    `Ein Stück hat den Viruswert des Rahmens, der am entschiedensten für eine der beiden Klassen ist. Eine Sequenz gilt als viral, wenn das Mittel der Werte ihrer Stücke, ` +
    `jeder gewichtet mit den Basen, die kein bewertetes Stück davor abdeckt, mindestens 0,5 ist. Von ${facts.scored} bewertbaren Sequenzen${facts.hasControls ? ' außerhalb der Kontrollen' : ''} waren das ${facts.virus}.`,
  importedMethods: (esm2, dnabertS, frames) =>
    ` Embeddings von ESM-2 für ${esm2} und von DNABERT-S für ${dnabertS} der ${frames} Leserahmen stammen aus einem früheren Lauf von VirNucPro.`,
  citations: 'Bitte zitieren Sie',
};

export const REPORT_TEXTS: Record<ExportLanguage, typeof en> = { en, de };
