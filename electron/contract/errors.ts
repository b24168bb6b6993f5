import { z } from 'zod';
import { asMessage, nextOf, wordingSchema, type Message } from './messages.ts';

/** Everything that can go wrong in a way the user sees: what to call it, and what to do next. */
const ERROR_CATALOGUE = {
  // inputs
  input_not_found: ['File not found', 'Check the path, or drop the file again.'],
  input_unreadable: [
    'File cannot be read',
    'Check that you may read this file and that its disk is connected.',
  ],
  input_truncated: ['File is cut off', 'The compressed file ends too early. Copy or download it again.'],
  not_sequence_file: ['Not a FASTA or FASTQ file', 'Choose a file with sequences in FASTA or FASTQ format.'],
  not_compressed: [
    'File is not compressed as its name says',
    'Download or copy it again, or choose the file that was meant.',
  ],
  input_changed: [
    'Input file has changed',
    'Restore the original file and resume, or start a new run with the changed file.',
  ],
  sample_sheet: ['The sample sheet has a fault', 'Mend it, then add it again.'],
  no_sequences: ['No sequences found', 'Choose a file that holds at least one sequence.'],
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
  folder_unwritable: [
    'Folder cannot be written',
    'Choose another folder, or ask for permission to write there.',
  ],
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
  disk_full: [
    'Disk is full',
    'Free some space on this disk, then resume. Everything computed so far is kept.',
  ],
  shares_missing: [
    'The run is not computed to its end',
    'Compute the shares that are missing, then finish the run.',
  ],
  // devices and models
  device_unknown: ['No such device', 'See the devices of this computer with "virnucpro devices".'],
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
  precision_unsupported: ['Precision not supported', 'Choose another precision, or leave out this device.'],
  model_unknown: ['No such model', 'Use teaching, 300, 500, or the path of a model folder.'],
  model_missing: ['Model weights are missing', 'Get the weights with "virnucpro models get".'],
  model_damaged: ['Model weights are damaged', 'Get the weights again with "virnucpro models get".'],
  download_failed: ['The download failed', 'Try again later. What has been fetched is kept.'],
  import_refused: ['These files cannot be imported', 'Choose other files.'],
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
    'Check the user name and your key or password: "ssh" with this address in a terminal must work, too.',
  ],
  ssh_host_key_changed: [
    'The other computer has another key than before',
    'Do not connect until those who run it confirm its new key. Then remove the old one with "ssh-keygen -R".',
  ],
  ssh_host_key_refused: [
    'The key of the other computer was not confirmed',
    'Ask those who run it for its fingerprint, then connect again.',
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
  protocol_version: [
    'Program and Python backend do not fit together',
    'Install the Python backend of this version: "virnucpro doctor --repair".',
  ],
  worker_load_failed: ['A worker could not load the model', 'Read the reason below; then resume.'],
  device_switched_off: ['Device switched off', 'The other devices go on. See its log for the reason.'],
  part_failed: ['A part failed', 'Retry it. If it fails again, its sequences are listed by name.'],
  prepare_failed: ['Reading the input failed', 'Read the reason below; then resume.'],
  // anything else
  usage: ['Invalid command', 'See "virnucpro --help".'],
  internal: ['Unexpected error', 'Copy the diagnostics and report it. The run can be resumed.'],
} as const satisfies Record<string, readonly [title: string, nextStep: string]>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;
export const errorCodeSchema = z.enum(Object.keys(ERROR_CATALOGUE) as [ErrorCode, ...ErrorCode[]]);

export const appErrorSchema = z.object({
  code: errorCodeSchema,
  title: z.string(),
  /** What happened, in plain words. */
  cause: z.string(),
  nextStep: z.string(),
  /** Details for the log: paths, exit codes, the last lines of standard error. */
  detail: z.string().optional(),
  /** Cause and next step for a window in another language; absent for texts without a key. */
  wording: z.object({ cause: wordingSchema.optional(), nextStep: wordingSchema.optional() }).optional(),
});
export type AppError = z.infer<typeof appErrorSchema>;

interface ErrorTexts {
  nextStep?: string | Message | undefined;
  detail?: string | undefined;
}

/** The next step is the one named, else the one that belongs to the cause (`nextOf`), else the usual one of the code. */
export function appError(code: ErrorCode, cause: string | Message, more?: ErrorTexts): AppError {
  const [title] = ERROR_CATALOGUE[code];
  const { text, wording } = asMessage(cause);
  const next = asMessage(more?.nextStep ?? nextOf(wording) ?? usualNextStep(code));
  return {
    code,
    title,
    cause: text,
    nextStep: next.text,
    ...(more?.detail ? { detail: more.detail } : {}),
    ...(wording || next.wording
      ? {
          wording: {
            ...(wording ? { cause: wording } : {}),
            ...(next.wording ? { nextStep: next.wording } : {}),
          },
        }
      : {}),
  };
}

/** What is written for a code whose cause has no next step of its own. */
export const usualNextStep = (code: ErrorCode): string => ERROR_CATALOGUE[code][1];

/** The next step of an error as a message, for use inside another message. */
export function nextStepOf({ nextStep, wording }: AppError): Message {
  return { text: nextStep, wording: wording?.nextStep ?? null };
}

/** The title of an error as a message; windows look it up by the error's code. */
export function titleOf({ code, title }: AppError): Message {
  return { text: title, wording: { key: `error.${code}`, values: {} } };
}

/** The cause of an error as a message, for use inside another message. */
export function causeOf({ cause, wording }: AppError): Message {
  return { text: cause, wording: wording?.cause ?? null };
}

/** Carries an AppError through code that can only throw; caught at the engine's edges. */
export class AppFailure extends Error {
  readonly error: AppError;

  constructor(error: AppError) {
    super(`${error.title}: ${error.cause}`);
    this.name = 'AppFailure';
    this.error = error;
  }
}

/** The failure with the error that `appError` makes. */
export function appFailure(...error: Parameters<typeof appError>): AppFailure {
  return new AppFailure(appError(...error));
}

/** The failure of a request that cannot be met as it is, or not now. */
export const usage = (cause: string | Message, nextStep?: string | Message): AppFailure =>
  appFailure('usage', cause, { nextStep });

export function asAppError(reason: unknown): AppError {
  if (reason instanceof AppFailure) return reason.error;
  const message = reason instanceof Error ? reason.message : String(reason);
  const detail = reason instanceof Error ? reason.stack : undefined;
  return appError('internal', message, detail ? { detail } : {});
}

/**
 * Outcome of an operation that can fail for a reason that the user should read. Errors are values, not
 * exceptions.
 */
export type Result<Value, Failure = AppError> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: Failure };

export function ok<Value>(value: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value };
}

export function err<Failure>(error: Failure): { readonly ok: false; readonly error: Failure } {
  return { ok: false, error };
}

/** The failed result with the error that `appError` makes. */
export function failWith(...error: Parameters<typeof appError>): {
  readonly ok: false;
  readonly error: AppError;
} {
  return err(appError(...error));
}

/** Returns the value or throws an AppFailure, for functions that cannot handle a failure themselves. */
export function unwrap<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new AppFailure(result.error);
  return result.value;
}

/** Ignores the result of a request that may be refused without consequence, and makes that explicit. */
export const allowRefusal: (result: Result<unknown>) => void = () => undefined;
