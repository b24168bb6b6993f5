import { SHORTEST_LENGTH } from '../../../contract/evidence.ts';
import type { ExportLanguage } from '../../../contract/exports.ts';

interface MethodsFacts {
  app: string;
  torch: string | null;
  esm2: string;
  model: string;
  hash: string;
  chunkLength: number;
  minLength: number | undefined;
  geneticCode: number;
  /** The model that judges the shorter chunks; null if it is the same. */
  secondLook: { length: number; model: string | null } | null;
  precision: string;
  sequences: string;
  hasControls: boolean;
  files: number;
  virus: string;
  scored: string;
}

interface ImportedFacts {
  esm2: string;
  dnabertS: string;
  frames: string;
  folder: string;
  precision: string | null;
}

const lookedAgain = (look: MethodsFacts['secondLook']): string =>
  look === null
    ? ''
    : `A chunk without such a frame was cut anew, in the same way, into chunks of ${look.length} bp, whose frames ` +
      `${look.model === null ? 'the same classifier' : `the classifier "${look.model}"`} scored; of it, only those chunks with a frame counted. `;
const lookedAgainGerman = (look: MethodsFacts['secondLook']): string =>
  look === null
    ? ''
    : `Ein Stück ohne einen solchen Rahmen wurde auf dieselbe Weise in Stücke von ${look.length} bp geteilt, deren Rahmen ` +
      `${look.model === null ? 'derselbe Klassifikator' : `der Klassifikator „${look.model}“`} bewertete; von ihm zählten nur die Stücke mit einem Rahmen. `;

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
  model: 'Model',
  chunks: 'Chunk length',
  precision: 'Precision',
  controls: 'Last check of the model when it began',
  imported: 'Embeddings taken over',
  importedFrom: ({ esm2, dnabertS, frames, folder, precision }: ImportedFacts) =>
    `ESM-2 for ${esm2} and DNABERT-S for ${dnabertS} of ${frames} reading frames, from an earlier run of VirNucPro in ${folder} (precision: ${precision ?? 'unknown'})`,
  importedMethods: ({ esm2, dnabertS, frames }: ImportedFacts) =>
    ` Embeddings by ESM-2 of ${esm2} and by DNABERT-S of ${dnabertS} of the ${frames} reading frames were taken over from an earlier run of VirNucPro.`,
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
  file: 'File',
  sample: 'Sample',
  size: 'Size',
  sequences: 'Sequences',
  bases: 'Bases',
  samples: 'Samples',
  share: 'Viral share',
  group: 'Group',
  control: 'control',
  controlNote:
    'Control: nothing viral is expected in it. What is called virus there is contamination or error, and the viral shares of the others are to be read against it.',
  shareNote: 'Viral share: of the sequences that have a call, how many are called virus. Not an abundance.',
  total: 'All',
  totalOutsideControls: 'All but controls',
  plots: 'Distributions',
  scoresVirus: 'Scores of sequences called virus',
  scoresOthers: 'Scores of sequences called other',
  perBin: (count: string, from: string, to: string) =>
    `${count} sequences with a score from ${from} to ${to}`,
  lengths: 'Viral share by length',
  notScored: 'Share not scored, by length',
  notJudged: (count: string, length: string) =>
    `Sequences that could not be judged, since they have no open reading frame over ${length} bp: ${count}.`,
  lengthNote: (virus: string, all: string, from: string) => `${virus} of ${all} sequences from ${from} bp`,
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
  note: 'Note',
  notVirus: 'not a virus',
  topNone: 'This list has no sequence.',
  name: 'Name',
  score: 'Score',
  call: 'Call',
  evidence: 'Evidence',
  pValue: 'p-value',
  pair: 'Read pair',
  modelCard: 'Model card',
  teachingCard:
    'Trained for this program on 2,000 fragments of viral, bacterial and archaeal genomes, to learn the program and to check it. On genome ' +
    'records held out of its training the AUROC is 0.789 (0.759 to 0.815) at 150 bp, 0.910 (0.883 to 0.934) at 500 bp and 0.939 (0.914 to ' +
    '0.961) at 3,000 bp, among the fragments that have a score; at 3,000 bp counting k-mers is as good (0.941). The figures hold for viruses ' +
    'that resemble those it was trained on. All of it: resources/teaching-model/MODEL_CARD.md.',
  reading: 'How to read it',
  methods: 'Methods, to copy',
  methodsText: (facts: MethodsFacts) =>
    `Viral sequences were identified with VirNucPro [1] as implemented in VirNucPro Desktop ${facts.app}` +
    `${facts.torch === null ? '' : ` (PyTorch ${facts.torch})`}. ${facts.sequences} sequences from ${facts.files} ` +
    `${facts.files === 1 ? 'file' : 'files'} were cut into overlapping chunks of ${facts.chunkLength} bp, which were translated in six ` +
    `reading frames by NCBI's genetic code ${facts.geneticCode}. ${facts.minLength === undefined ? '' : `Sequences shorter than ${facts.minLength} bp were left out. `}Frames without a stop codon were embedded with ${facts.esm2} [2] and DNABERT-S [3] and scored by the classifier ` +
    `"${facts.model}" (SHA-256 ${facts.hash.slice(0, 12)}) in ${facts.precision} precision. ${lookedAgain(facts.secondLook)}A chunk took the virus ` +
    `score of the frame most decided for either class. A sequence was called viral where the mean of its chunks' scores, each weighted by the bases ` +
    `not covered by an earlier scored chunk, was at least 0.5. Of ${facts.scored} sequences that could be scored${facts.hasControls ? ' outside of the controls' : ''}, ${facts.virus} were called viral.`,
  citations: 'Please cite',
  limits: 'Limits',
  limitList: [
    'The classifier was trained on equal numbers of viral and other sequences. In a metagenome with few viruses, many sequences with a high score are not viral.',
    'There is no calibrated false discovery rate. Confirm what matters with an independent method, such as geNomad or CheckV for contigs of 2.5 kb and more, or BLAST.',
    'Sequences without a stop-free reading frame of a whole chunk cannot be scored. Not scored does not mean not viral.',
    'Reads shorter than the chunk length are scored on a single, shorter chunk than the classifier was trained on.',
    `Sequences shorter than ${SHORTEST_LENGTH} bp are too short to be believed: their evidence is always weak.`,
    'The method names no taxon and finds no borders of a provirus.',
  ],
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
  model: 'Modell',
  chunks: 'Länge der Stücke',
  precision: 'Genauigkeit',
  controls: 'Letzte Prüfung des Modells vor dem Lauf',
  imported: 'Übernommene Embeddings',
  importedFrom: ({ esm2, dnabertS, frames, folder, precision }) =>
    `ESM-2 für ${esm2} und DNABERT-S für ${dnabertS} von ${frames} Leserahmen, aus einem früheren Lauf von VirNucPro in ${folder} (Genauigkeit: ${precision ?? 'unbekannt'})`,
  importedMethods: ({ esm2, dnabertS, frames }) =>
    ` Embeddings von ESM-2 für ${esm2} und von DNABERT-S für ${dnabertS} der ${frames} Leserahmen stammen aus einem früheren Lauf von VirNucPro.`,
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
  file: 'Datei',
  sample: 'Probe',
  size: 'Größe',
  sequences: 'Sequenzen',
  bases: 'Basen',
  samples: 'Proben',
  share: 'Viraler Anteil',
  group: 'Gruppe',
  control: 'Kontrolle',
  controlNote:
    'Kontrolle: In ihr wird nichts Virales erwartet. Was dort als Virus gilt, ist Verunreinigung oder Irrtum; die viralen Anteile der anderen sind daran zu messen.',
  shareNote: 'Viraler Anteil: wie viele der eingestuften Sequenzen als Virus gelten. Keine Häufigkeit.',
  total: 'Alle',
  totalOutsideControls: 'Alle außer Kontrollen',
  plots: 'Verteilungen',
  scoresVirus: 'Werte der als Virus eingestuften Sequenzen',
  scoresOthers: 'Werte der als anderes eingestuften Sequenzen',
  perBin: (count, from, to) => `${count} Sequenzen mit einem Wert von ${from} bis ${to}`,
  lengths: 'Viraler Anteil nach Länge',
  notScored: 'Nicht bewerteter Anteil nach Länge',
  notJudged: (count, length) =>
    `Sequenzen, die sich nicht beurteilen ließen, da sie über ${length} bp keinen offenen Leserahmen haben: ${count}.`,
  lengthNote: (virus, all, from) => `${virus} von ${all} Sequenzen ab ${from} bp`,
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
  note: 'Notiz',
  notVirus: 'kein Virus',
  topNone: 'Diese Liste hat keine Sequenz.',
  name: 'Name',
  score: 'Wert',
  call: 'Einstufung',
  evidence: 'Beleglage',
  pValue: 'p-Wert',
  pair: 'Read-Paar',
  modelCard: 'Modellkarte',
  teachingCard:
    'Für dieses Programm an 2.000 Fragmenten viraler, bakterieller und archaealer Genome trainiert, um das Programm kennenzulernen und zu ' +
    'prüfen. Auf Genomen, die vom Training ausgenommen waren, beträgt die AUROC 0,789 (0,759 bis 0,815) bei 150 bp, 0,910 (0,883 bis 0,934) bei ' +
    '500 bp und 0,939 (0,914 bis 0,961) bei 3.000 bp, unter den Fragmenten mit einem Wert; bei 3.000 bp ist das Zählen von k-Meren ebenso gut ' +
    '(0,941). Die Zahlen gelten für Viren, die denen des Trainings gleichen. Alles Weitere: resources/teaching-model/MODEL_CARD.md (englisch).',
  reading: 'So ist es zu lesen',
  methods: 'Methoden, zum Kopieren',
  methodsText: (facts) =>
    `Virale Sequenzen wurden mit VirNucPro [1] bestimmt, wie VirNucPro Desktop ${facts.app} es rechnet` +
    `${facts.torch === null ? '' : ` (PyTorch ${facts.torch})`}. ${facts.sequences} Sequenzen aus ${facts.files} ` +
    `${facts.files === 1 ? 'Datei' : 'Dateien'} wurden in überlappende Stücke von ${facts.chunkLength} bp geteilt und diese in sechs ` +
    `Leserahmen nach dem genetischen Code ${facts.geneticCode} des NCBI übersetzt. ${facts.minLength === undefined ? '' : `Kürzere Sequenzen als ${facts.minLength} bp blieben außen vor. `}Rahmen ohne Stoppcodon wurden mit ${facts.esm2} [2] und DNABERT-S [3] eingebettet und vom Klassifikator ` +
    `„${facts.model}“ (SHA-256 ${facts.hash.slice(0, 12)}) mit der Genauigkeit ${facts.precision} bewertet. ${lookedAgainGerman(facts.secondLook)}Ein Stück hat den ` +
    `Viruswert des Rahmens, der am entschiedensten für eine der beiden Klassen ist. Eine Sequenz gilt als viral, wenn das Mittel der Werte ihrer Stücke, ` +
    `jeder gewichtet mit den Basen, die kein bewertetes Stück davor abdeckt, mindestens 0,5 ist. Von ${facts.scored} bewertbaren Sequenzen${facts.hasControls ? ' außerhalb der Kontrollen' : ''} waren das ${facts.virus}.`,
  citations: 'Bitte zitieren Sie',
  limits: 'Grenzen',
  limitList: [
    'Der Klassifikator wurde mit gleich vielen viralen und anderen Sequenzen trainiert. In einem Metagenom mit wenigen Viren sind viele Sequenzen mit hohem Wert nicht viral.',
    'Eine geeichte Falscherkennungsrate gibt es nicht. Bestätigen Sie, worauf es ankommt, mit einem unabhängigen Verfahren, etwa geNomad oder CheckV für Contigs ab 2,5 kb, oder BLAST.',
    'Sequenzen ohne einen Leserahmen, der über ein ganzes Stück ohne Stoppcodon ist, können nicht bewertet werden. Nicht bewertet heißt nicht: nicht viral.',
    'Reads, die kürzer als ein Stück sind, werden nach einem einzigen, kürzeren Stück bewertet als der Klassifikator im Training sah.',
    `Sequenzen unter ${SHORTEST_LENGTH} bp sind zu kurz, um sich darauf zu verlassen: ihre Beleglage ist immer schwach.`,
    'Das Verfahren nennt kein Taxon und findet keine Grenzen eines Provirus.',
  ],
};

export const REPORT_TEXTS: Record<ExportLanguage, typeof en> = { en, de };
