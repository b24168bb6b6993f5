/** Turns the failure of a set-up or of packing a folder into an error with a next step. */
import { appError, asAppError, type AppError, type ErrorCode } from '../../../contract/errors.ts';
import type { CommandOutcome } from '../runCommand.ts';
import { SUPPORTED_PYTHONS } from '../machine.ts';

const AGAIN = 'then start again: it goes on where it stopped.';
const LINES_KEPT = 40;

/** Reads what uv, or pip while it downloads uv, wrote before it failed. */
export function installerFailure(outcome: CommandOutcome): AppError {
  const text = `${outcome.stdout}\n${outcome.stderr}`;
  const detail = `${outcome.summary}\n${text.split('\n').slice(-LINES_KEPT).join('\n')}`;
  if (outcome.ending === 'cancelled') {
    return appError('python_broken', 'Installing the Python packages was interrupted.', {
      nextStep: 'Start again: it goes on where it stopped.',
    });
  }
  if (/No space left on device|Errno 28|not enough space|os error 112/i.test(text)) {
    return appError('disk_full', 'The disk has no room for the Python packages; they take up to 8 GB.', {
      nextStep: `Free some space, or choose a data folder on another disk under Settings, ${AGAIN}`,
      detail,
    });
  }
  if (/hash mismatch|DO NOT MATCH THE HASHES/i.test(text)) {
    return appError('python_broken', 'A downloaded package is not the file that was published.', {
      nextStep: `Check which mirror is entered under Settings, or make the offline folder again, ${AGAIN}`,
      detail,
    });
  }
  const network = networkError(text, detail);
  if (network) return network;
  const missing =
    /No matching distribution found for (\S+)/.exec(text)?.[1] ??
    /Because (\S+) has no wheels with a matching/.exec(text)?.[1];
  if (missing !== undefined) {
    return appError('python_broken', `There is no ${missing} for this computer and this version of Python.`, {
      nextStep: `The Python must be one of ${SUPPORTED_PYTHONS}: install one of them, ${AGAIN}`,
      detail,
    });
  }
  return appError('python_broken', 'The Python environment could not be set up.', {
    nextStep: `Read the last lines of the installer below, ${AGAIN}`,
    detail,
  });
}

export function isNetworkError({ code }: AppError): boolean {
  return code.startsWith('network_');
}

/** Network problems as installers and downloads report them. */
const SIGNS: readonly (readonly [code: ErrorCode, sign: RegExp, cause: string])[] = [
  [
    'network_certificate',
    /CERTIFICATE_VERIFY_FAILED|SSLError|SSLCertVerification|invalid peer certificate|UnknownIssuer|unable to (?:get|verify).{0,40}certificate|self.signed certificate/i,
    'The server shows a certificate that this computer does not trust, as in a network that inspects what passes through it.',
  ],
  [
    'network_proxy',
    /ProxyError|tunnel error|Cannot connect to proxy|Proxy Authentication Required|\b407\b/i,
    'The proxy that is set up for this computer does not answer, or does not let the download through.',
  ],
  [
    'network_blocked',
    /\b(?:401|403|451)\b.{0,40}(?:Client Error|Forbidden|Unauthorized|Unavailable)|status client error \((?:401|403|451)|\b50[234]\b.{0,40}(?:Server Error|Bad Gateway|Unavailable)/i,
    'The server, or something on the way to it, refuses the download.',
  ],
  [
    'network_unreachable',
    /name resolution|getaddrinfo|dns error|Name or service not known|NewConnectionError|ConnectTimeout|ConnectionError|Read timed out|operation timed out|client error \(Connect\)|error sending request|tcp connect error|Connection (?:refused|reset|aborted)|Network is unreachable|No route to host|network (?:connectivity is|was) disabled/i,
    'The server that has the Python packages cannot be reached.',
  ],
];

export function isAboutNetwork(text: string): boolean {
  return SIGNS.some(([, sign]) => sign.test(text));
}

/** Null if the text is not about the network. */
function networkError(text: string, detail: string): AppError | null {
  const found = SIGNS.find(([, sign]) => sign.test(text));
  if (found === undefined) return null;
  const [code, , cause] = found;
  return appError(code, cause, { detail });
}

interface Circumstances {
  /** The folder being written to. */
  readonly folder: string;
  readonly signal: AbortSignal | undefined;
  readonly interrupted: AppError;
}

/** Describes what the operating system threw while files were written. */
export function describeFailure(reason: unknown, { folder, signal, interrupted }: Circumstances): AppError {
  if (signal?.aborted) return interrupted;
  switch (reason instanceof Error ? (reason as NodeJS.ErrnoException).code : undefined) {
    case 'ENOSPC':
      return diskFull(folder);
    case 'EFBIG':
      return appError(
        'folder_unwritable',
        `The disk of ${folder} takes no files of more than 4 GB, as FAT32 does.`,
        {
          nextStep: 'Format it with exFAT, or choose another disk.',
        },
      );
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return appError('folder_unwritable', `${folder} cannot be written.`, {
        nextStep: 'Choose a folder that you may write to (the data folder under Settings), then start again.',
      });
    default:
      return asAppError(reason);
  }
}

export function diskFull(folder: string): AppError {
  return appError('disk_full', `The disk of ${folder} is full.`, {
    nextStep: 'Free some space or choose another disk, then start again: it goes on where it stopped.',
  });
}
