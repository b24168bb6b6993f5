import { z } from 'zod';
import { GERMAN_PROBLEMS } from './germanProblems.ts';
import { filled, namesIn, type Message, type NamesIn } from './messages.ts';

/**
 * Each problem that a user can meet: its title, the next step and, where it is not told case by case, the
 * sentence. German is in germanProblems.ts; Python has the codes by "npm run export-schemas".
 */
type Texts = readonly [title: string, nextStep: string, sentence?: string | undefined];

/** A file cannot be used, and a run goes on without it. The sentence is the title, where there is no other. */
const UNUSABLE_FILES = {
  input_not_found: ['File not found', 'Check the path, or choose the file again.'],
  input_unreadable: [
    'File cannot be read',
    'Check that you may read this file and that its disk is connected.',
    'It cannot be read: {reason}.',
  ],
  input_damaged: [
    'Compressed data are damaged',
    'Copy or download the file again, or unpack it yourself to see how much can be saved.',
    'It cannot be unpacked, because its compressed data are damaged ({reason}).',
  ],
  input_truncated: [
    'Compressed data are cut off',
    'Copy or download the file again: its transfer was probably interrupted.',
  ],
  input_changed: [
    'No longer the file that the run was created with',
    'Restore the original file and resume, or start a new run with the changed file.',
  ],
  not_compressed: [
    'Not compressed as its name says',
    'Download or copy the file again, or choose the one that was meant.',
    'Its name ends in {ending}, but it is not compressed, and no FASTA or FASTQ file either.',
  ],
  not_sequence_file: ['Not a FASTA or FASTQ file', 'Choose a file with sequences in FASTA or FASTQ format.'],
  looks_like_protein: ['Proteins, not DNA', 'Choose the nucleotide sequences: proteins cannot be scored.'],
  looks_like_rna: ['RNA, with U instead of T', 'Have U read as T, with --repair read_u_as_t.'],
  looks_like_numbers: [
    'Numbers (such as quality values or colour space), not bases',
    'Choose the file with the sequences themselves.',
  ],
  alignment_map: [
    'Alignments (SAM, BAM or CRAM)',
    'Convert it with samtools fastq, then choose the FASTQ file.',
  ],
  flat_file: [
    'GenBank or EMBL file',
    'Get the same sequences as FASTA: in NCBI, "Send to", File, Format FASTA.',
  ],
  annotation: [
    'Annotation or variants (GFF or VCF), without the sequences',
    'Choose the FASTA file that it was made from.',
  ],
  table: [
    'Table, without sequences',
    'Choose the FASTA file that it was made from. A table of another tool belongs to the results of a run.',
  ],
  document: [
    'Document (Word, Excel, RTF or PDF)',
    'Copy the sequences into a plain text file (.txt), each below a line of > and its name.',
  ],
  web_page: ['Web page or XML', 'Download the sequences themselves as FASTA.'],
  utf16: ['Text in UTF-16', 'Save it again as plain text (UTF-8).'],
  raw_signals: ['Raw signals (FAST5)', 'Basecall them first, then choose the FASTQ file.'],
  pearson_fasta: [
    'FASTA in its first form, with ; instead of >',
    'Write > in place of the ; before each name.',
  ],
  archive: ['Archive', 'Unpack it, and choose the FASTA or FASTQ files in it.'],
  compressed_twice: ['Compressed twice', 'Unpack it once, and choose the result.'],
  compressed_otherwise: [
    'Compressed in a way that is not read here',
    'Unpack it with {command}, and choose the result.',
    'It is compressed with {how}, which is not read here.',
  ],
} as const satisfies Record<string, Texts>;

/** Some of a file gets no score. The sentence is the title with the count, where there is no other. */
const LEFT_OUT_OF_FILES = {
  empty: ['Empty sequences', 'They are listed as not scored, with this reason.'],
  below_min_length: [
    'Sequences shorter than the minimum length that you asked for',
    'They are listed as not scored, with this reason.',
  ],
  invalid_characters: [
    'Sequences with characters that no sequence has (such as control characters or accents)',
    'They are listed as not scored, with this reason; all others are scored.',
  ],
  malformed_record: [
    'Damaged or incomplete records',
    'They are listed as not scored, with this reason; reading goes on with the next record.',
  ],
  passed_over: [
    'Lines that belong to no sequence and were passed over',
    'They may be what is left of sequences: look at these lines of the file.',
  ],
  protein_records: [
    'Proteins among the sequences',
    'They are listed as not scored; the other sequences are scored.',
  ],
} as const satisfies Record<string, Texts>;

/** Nothing of the file is left out. */
const REMARKS_ON_FILES = {
  no_sequences: [
    'No sequences',
    'The results have no rows of this file. If it should hold some, choose the right file.',
    'It holds no sequences.',
  ],
  no_end_block: [
    'End mark missing, perhaps cut off',
    'Compare its size with the original, or copy it again. All that is there is read.',
    'It is compressed in blocks (BGZF), and the block that marks its end is missing.',
  ],
  mates_unequal: [
    'Mates missing',
    'Reads without a mate are called by themselves. A file may be cut off: compare their sizes with the originals.',
    'The files of a read pair have different numbers of reads: {others} in {other}, {reads} in {file}.',
  ],
  mates_disagree: [
    'Names of the mates disagree',
    'Reads whose names disagree are called by themselves, and not as pairs. Perhaps reads are missing in one of the files.',
    'The names in {file} and {other} disagree from read {read} on.',
  ],
  below_chunk_length: [
    'Sequences shorter than a chunk',
    'Scored as they are; the model was trained on full chunks, so take these scores with care.',
  ],
  rna_records: [
    'Sequences that are written as RNA, with U instead of T',
    'Codons with U are skipped, so hardly anything of them is scored. Have U read as T, with --repair read_u_as_t.',
  ],
  gaps: [
    'Gaps of an alignment (-, ., * or ~)',
    'Gaps are read as unknown letters and shift the reading frames. Have them removed, with --repair remove_gaps.',
  ],
  invisible_marks: [
    'Invisible marks (such as a byte-order mark) at the beginning or end of lines',
    'They are left out, as they are no part of a name or sequence.',
  ],
  duplicate_ids: [
    'Sequences with the name of an earlier one in the file',
    'Names end at the first blank. All sequences are scored and kept apart by their place in the file.',
  ],
  ids_not_compared: [
    'Names not checked for duplicates, because there are too many',
    'All sequences are scored and kept apart by their place in the file.',
  ],
  ambiguous_bases: [
    'Sequences with letters other than A, C, G and T',
    'A codon with such a letter is skipped in the protein, as in the original tool.',
  ],
  lower_case: ['Sequences with lower-case letters', 'They are read as upper case; masking is ignored.'],
  comment_lines: [
    'Lines inside sequences that begin with # or ;',
    'They are left out as comments. The original tool reads them as part of the sequence.',
  ],
} as const satisfies Record<string, Texts>;

/** What ends the reading of files, and other work. */
const OF_ANY_WORK = {
  disk_full: [
    'Disk is full',
    'Free some space on this disk, then resume. Everything computed so far is kept.',
  ],
  folder_unwritable: [
    'Folder cannot be written',
    'Choose another folder, or ask for permission to write there.',
    'The folder of the run cannot be written: {reason}.',
  ],
  work_files_damaged: [
    'Working files are damaged again and again',
    'Check the disk with the results; then resume.',
  ],
  protocol_version: [
    'Program and Python backend do not fit together',
    'Install the Python backend of this version: "virnucpro doctor --repair".',
    'One half of the program does not understand the other: {reason}.',
  ],
  prepare_failed: [
    'Reading the input failed',
    'Resume the run: what was read and computed so far is kept. If it happens again, report it with its log.',
    'Reading stopped unexpectedly: {reason}.',
  ],
  internal: [
    'Unexpected error',
    'Copy the diagnostics and report it. The run can be resumed.',
    'The program failed: {reason}.',
  ],
} as const satisfies Record<string, Texts>;

/** Why sequences of a part get no score. */
const OF_PARTS = {
  out_of_memory: ['Too little memory on the device', 'Close other programs that use the GPU, then retry.'],
  non_finite: [
    'The model gave results that are no numbers, even when computed again more exactly',
    'Retry it on another device. If it fails again, check the files of the model.',
  ],
  part_unreadable: [
    'A working file is missing or damaged',
    'Retry it: it is made again from the input file.',
  ],
  device_lost: [
    'The GPU was lost during the computation',
    'Restart the computer if the GPU stays away, then retry.',
  ],
  internal_error: [
    'The program stopped during the computation',
    'Retry it. If it fails again, its sequences are listed by name.',
  ],
} as const satisfies Record<string, Texts>;

/** Why a worker cannot load its model on its device. */
const OF_LOADING = {
  model_missing: [
    'Model weights are missing',
    'Get the weights with "virnucpro models get".',
    '{path} is missing.',
  ],
  model_damaged: [
    'Model weights are damaged',
    'Get the weights again with "virnucpro models get".',
    '{path} is not what its model says it is.',
  ],
  model_too_large: [
    'The model does not fit into the memory of the device',
    'Close other programs that use it, choose half precision, or leave this device out.',
    '{free} GiB of its memory are free, and the model takes {needed} GiB.',
  ],
  main_memory_too_small: [
    'The model fits neither into the GPU nor into main memory',
    'Close other programs, or leave this device out.',
    '{free} GiB of main memory are free, and the layers of ESM-2 take {needed} GiB.',
  ],
  precision_unsupported: [
    'Precision not supported',
    'Choose another precision, or leave out this device.',
    'This device does not compute in {precision}.',
  ],
  pytorch_unfit: [
    'PyTorch is made for other devices',
    'Repair the Python environment.',
    'The installed PyTorch, {version}, cannot use a device of this kind.',
  ],
  gpu_not_alone: [
    'A worker must see exactly one GPU',
    'See with nvidia-smi whether the GPU is there and this account may use it.',
    'PyTorch sees {number} GPUs with CUDA_VISIBLE_DEVICES={value}.',
  ],
  device_unusable: [
    'PyTorch cannot compute on this device',
    'Update its driver, choose another device, or leave this one out.',
  ],
  worker_load_failed: ['A worker could not load the model', 'See its log for the reason, then resume.'],
} as const satisfies Record<string, Texts>;

/** Why NVIDIA's driver shows no GPU. */
const WITHOUT_GPU = {
  nvml_missing: ['The package that finds NVIDIA GPUs is missing', 'Repair the Python environment.'],
  driver_missing: ['No NVIDIA driver is installed', 'On a computer without an NVIDIA GPU that is normal.'],
  driver_not_running: [
    'NVIDIA software is installed, but its driver is not running',
    'Either this computer has no NVIDIA GPU, or the driver must be installed again.',
  ],
  driver_updated: ['The NVIDIA driver was updated', 'Restart the computer: that completes the update.'],
  driver_forbidden: [
    'This user account is not allowed to talk to the NVIDIA driver',
    'Ask whoever manages this computer for permission.',
  ],
  driver_silent: ['The NVIDIA driver does not answer', 'Restart the computer.'],
  gpus_silent: ['The NVIDIA driver is running but finds no GPU that answers', 'Restart the computer.'],
} as const satisfies Record<string, Texts>;

const OF_THE_PROGRAM = {
  sample_sheet: ['The sample sheet has a fault', 'Mend it, then add it again.'],
  legacy_unusable: [
    'The earlier run cannot be taken over',
    'Check its folder and its input, or start an ordinary run.',
  ],
  // run folders
  folder_not_ours: ['Folder is not empty', 'Choose an empty folder or a new name for the results.'],
  folder_has_run: [
    'Folder already holds a run',
    'Go on with that run by --resume, or use --force to start it again from the beginning.',
  ],
  folder_not_a_run: ['Not a run folder', 'Choose a folder that holds a run.db of this program.'],
  folder_unreadable: [
    'Run folder cannot be read',
    'Check its disk, copy the folder to another one, then try again: a network disk may only have faltered.',
  ],
  results_missing: [
    'Result files are missing',
    'Look in run.log for the reason and mend it, then resume: only the results are written again.',
  ],
  folder_gone: ['Results folder is gone', 'Connect the disk again or move the folder back, then resume.'],
  folder_unsafe: [
    'Folder holds links or special files',
    'Put the files themselves in their place: a link could lead to other files of yours. Or start a new run.',
  ],
  run_locked: ['Run is open elsewhere', 'Close it there first. Only one program may work on a run.'],
  run_too_new: ['Run was made by a newer version', 'Update this program, then open the run again.'],
  run_damaged: ['Run database is damaged', 'Start a new run in another folder; the inputs are unchanged.'],
  shares_missing: [
    'The run is not computed to its end',
    'Compute the shares that are missing, then finish the run.',
  ],
  // devices and models
  device_unknown: ['No such device', 'See the devices of this computer with "virnucpro status".'],
  device_hidden: [
    'Device is hidden by an environment variable',
    'Unset the variable, or choose one of the devices that it lists.',
  ],
  device_blocked: [
    'Device cannot compute yet',
    'Install what is missing (see the reason), or choose another device.',
  ],
  no_usable_device: [
    'No device left to compute on',
    'Check the devices, then resume. Everything computed is kept.',
  ],
  cluster_failed: ['The cluster cannot be used', 'Read the reason below; then resume.'],
  cluster_lost: [
    'The connection to the cluster ended',
    'When the cluster answers again, resume the run: it goes on from what its shares have.',
  ],
  model_unknown: ['No such model', 'Use teaching, 300, 500, or the path of a model folder.'],
  download_failed: ['The download failed', 'Try again later. What has been fetched is kept.'],
  import_refused: ['These files cannot be imported', 'Choose the published files, or get them again.'],
  weights_busy: ['Weights are being fetched or imported', 'Wait for it to end, or pause it.'],
  // the computer and its network
  computer_unsupported: ['This computer cannot compute', 'Use another computer.'],
  network_unreachable: ['No connection to the internet', 'Check the network, then try again.'],
  network_proxy: ['The proxy does not answer', 'Correct the proxy under Settings, then try again.'],
  network_blocked: [
    'The network refuses the download',
    'Enter a proxy or a mirror under Settings, or ask those who run the network, then try again.',
  ],
  network_certificate: [
    'The network shows an unknown certificate',
    "Choose your network's certificate file under Settings, then try again.",
  ],
  // another computer by SSH
  ssh_missing: ['There is no SSH program here', 'Install the OpenSSH client, then try again.'],
  ssh_name_unknown: [
    'This computer is not known by that name',
    'Check its name, and the VPN if it can be reached only from inside.',
  ],
  ssh_unreachable: [
    'The other computer does not answer',
    'Check that it is switched on, and the network or VPN, then try again.',
  ],
  ssh_denied: [
    'The other computer refuses the sign-in',
    'Connect again, and check the user name and your key or password: "ssh" with this address must work in a terminal, too.',
  ],
  ssh_host_key_changed: [
    'The other computer has another key than before',
    'Do not connect until those who run it confirm its new key. Then remove the old one with "ssh-keygen -R".',
  ],
  ssh_host_key_refused: [
    'The key of the other computer was not confirmed',
    'Ask those who run it for its fingerprint, then connect again. On Windows, confirm the key by "ssh" in a terminal first.',
  ],
  ssh_lost: [
    'The connection to the other computer broke',
    'Wait: it is made again. What runs there goes on.',
  ],
  ssh_failed: [
    'The connection to the other computer failed',
    'See whether "ssh" with this address works in a terminal.',
  ],
  computer_unfit: ['The other computer cannot be used', 'Choose another computer.'],
  server_package_missing: [
    'What is installed on other computers is not here',
    'Install this program again; in a checkout, run "npm run pack:wheel".',
  ],
  server_not_started: [
    'VirNucPro could not be started on the other computer',
    'Read the details, then connect again.',
  ],
  server_other_version: [
    'Another version is at work on the other computer',
    'Wait until its run has ended, then connect again.',
  ],
  transfer_failed: ['The file was not transferred', 'Try again.'],
  // setting up without a network
  offline_folder_unusable: [
    'Not a folder to set up from',
    'Choose the folder that "virnucpro pack-offline" has written.',
  ],
  // the Python environment
  python_missing: ['Python not found', 'Install Python from python.org, then start again.'],
  python_broken: ['Python environment is not usable', 'Repair it with "virnucpro doctor --repair".'],
  // workers
  worker_died: [
    'A worker stopped unexpectedly',
    'It is started again by itself. See its log if this goes on.',
  ],
  worker_silent: [
    'A worker gives no sign of life',
    'It is started again by itself. See its log if this goes on.',
  ],
  worker_stalled: [
    'A worker makes no progress',
    'It is started again by itself. See its log if this goes on.',
  ],
  protocol_garbage: ['A worker sent something unreadable', 'It is started again by itself. See its log.'],
  device_switched_off: ['Device switched off', 'The other devices go on. See its log for the reason.'],
  usage: ['Invalid command', 'See "virnucpro --help".'],
} as const satisfies Record<string, Texts>;

export const PROBLEMS = {
  ...UNUSABLE_FILES,
  ...LEFT_OUT_OF_FILES,
  ...REMARKS_ON_FILES,
  ...OF_ANY_WORK,
  ...OF_PARTS,
  ...OF_LOADING,
  ...WITHOUT_GPU,
  ...OF_THE_PROGRAM,
};
export type ErrorCode = keyof typeof PROBLEMS;

const OF_FILES = { ...UNUSABLE_FILES, ...LEFT_OUT_OF_FILES, ...REMARKS_ON_FILES };
const OF_READING = { ...OF_FILES, ...OF_ANY_WORK };
export type SaidCode =
  keyof typeof OF_READING | PartFailureCode | keyof typeof OF_LOADING | keyof typeof WITHOUT_GPU;
export type PartFailureCode = keyof typeof OF_PARTS;

const codesOf = <Code extends string>(list: Record<Code, Texts>) => Object.keys(list) as [Code, ...Code[]];
export const errorCodeSchema = z.enum(codesOf(PROBLEMS));
export const readingCodeSchema = z.enum(codesOf(OF_READING));
export const partFailureCodeSchema = z.enum(codesOf(OF_PARTS));
export const loadFailureCodeSchema = z.enum([...codesOf(OF_LOADING), 'out_of_memory']);
export const noGpuCodeSchema = z.enum(codesOf(WITHOUT_GPU));
export const fileProblemCodeSchema = z.enum(codesOf(OF_FILES));

export type Severity = 'blocks' | 'skipped' | 'warning';

export const severityOf = (code: string): Severity =>
  code in UNUSABLE_FILES ? 'blocks' : code in LEFT_OUT_OF_FILES ? 'skipped' : 'warning';

export const isBlocking = ({ code }: { code: string }): boolean => severityOf(code) === 'blocks';

/** The codes that are not said by their title. */
export type OwnSentence = {
  [Code in ErrorCode]: (typeof PROBLEMS)[Code] extends readonly [string, string, string] ? Code : never;
}[ErrorCode];

export type Language = 'en' | 'de';

type German = Readonly<Record<`${ErrorCode}.${'title' | 'next'}` | `${OwnSentence}.sentence`, string>>;
/** Compiles only if all that is said in English is said in German, and nothing else. */
const german: German & {
  [Key in keyof typeof GERMAN_PROBLEMS]: Key extends keyof German ? string : never;
} = GERMAN_PROBLEMS;

/** The words of a problem. What has no sentence of its own is said by its title, of what is counted with the number. */
export function wordsOf(
  code: ErrorCode,
  language: Language = 'en',
): Record<'title' | 'sentence' | 'next', string> {
  const sentences: Partial<Record<`${ErrorCode}.sentence`, string>> = german;
  const [title, next, sentence]: Texts =
    language === 'en'
      ? PROBLEMS[code]
      : [german[`${code}.title` as const], german[`${code}.next` as const], sentences[`${code}.sentence`]];
  const counted = code in OF_FILES && !(code in UNUSABLE_FILES);
  return { title, next, sentence: sentence ?? (counted ? `${title}: {count}.` : `${title}.`) };
}

/** What the sentence and the next step of a problem name, besides the count. */
type Variables<Code extends ErrorCode> = NamesIn<Exclude<(typeof PROBLEMS)[Code][1 | 2], undefined>>;

/** A problem with what its words name. */
export interface Said {
  code: SaidCode;
  values: Record<string, string>;
}

export const said = <Code extends SaidCode>(
  code: Code,
  values: Record<Variables<Code>, string>,
): Said & { code: Code } => ({ code, values });

/** For the tests of the Python side: each code with exactly the values that its words name. */
export const saidSchema = z.union(
  codesOf({ ...OF_READING, ...OF_LOADING }).map((code) => {
    const { sentence, next } = wordsOf(code);
    const names = namesIn(`${sentence} ${next}`).filter((name) => name !== 'count');
    const values = z.strictObject(Object.fromEntries(names.map((name) => [name, z.string()])));
    return z.object({ code: z.literal(code), values });
  }),
);

/** A problem in words, for a place that names the file beside it. */
export function inWords(
  { code, values, count }: Said & { count?: number },
  language: Language = 'en',
): Record<'title' | 'sentence' | 'next', Message> {
  const given = count === undefined ? values : { ...values, count };
  const shown = count === undefined ? values : { ...values, count: count.toLocaleString('en-US') };
  const say = (part: 'title' | 'sentence' | 'next'): Message => ({
    text: filled(wordsOf(code, language)[part], shown),
    wording: { key: `error.${code}.${part}`, values: given },
  });
  return { title: say('title'), sentence: say('sentence'), next: say('next') };
}

/** What is wrong and what it means, or what to do about it. */
export function toldOf(problem: Said & { count?: number }, language: Language = 'en'): string {
  const { sentence, next } = inWords(problem, language);
  return `${sentence.text} ${next.text}`;
}
