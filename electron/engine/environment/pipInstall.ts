/** One `pip install`: its progress as it goes, its failure in words. */
import { appError, type AppError } from '../../contract/errors.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import { scrubbedEnvironment } from './pythonLaunch.ts';
import type { CommandOutcome, CommandRunner } from './runCommand.ts';

export interface PipProgress {
  /** What pip is doing, such as "Downloading torch-2.13.0 (526.6 MB)". */
  readonly line: string;
  /** Of the file that is being downloaded; null where nothing is known. */
  readonly fraction: number | null;
}

export interface PipRequest {
  readonly interpreter: string;
  readonly arguments: readonly string[];
  /** The first step may have a pip that doesn't know how to report progress. */
  readonly reportsProgress: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (progress: PipProgress) => void;
}

export async function pipInstall(run: CommandRunner, request: PipRequest): Promise<Result<void>> {
  let doing = '';
  const outcome = await run({
    file: request.interpreter,
    args: [
      '-m',
      'pip',
      'install',
      '--disable-pip-version-check',
      '--no-input',
      `--progress-bar=${request.reportsProgress ? 'raw' : 'off'}`,
      ...request.arguments,
    ],
    env: scrubbedEnvironment(request.env),
    signal: request.signal,
    onLine: (line) => {
      const bytes = /^Progress (\d+) of (\d+)$/.exec(line);
      if (bytes) {
        const total = Number(bytes[2]);
        request.onProgress({ line: doing, fraction: total > 0 ? Number(bytes[1]) / total : null });
        return;
      }
      if (NO_NEWS.test(line)) return;
      doing = withoutPath(line);
      request.onProgress({ line: doing, fraction: null });
    },
  });
  return outcome.ending === 'succeeded' ? ok(undefined) : err(inWords(outcome));
}

/** Lines that pip writes by the hundred and that tell a user nothing. */
const NO_NEWS = /^(Requirement already satisfied|Looking in|Ignoring|WARNING|\[notice\])/;

/** "Downloading https://.../torch.whl (5 MB)" without where from. */
function withoutPath(line: string): string {
  return line.replace(/(?:https?|file):\/\/\S*\//, '');
}

const AGAIN = 'then start again: it goes on where it stopped.';

function inWords(outcome: CommandOutcome): AppError {
  const text = `${outcome.stdout}\n${outcome.stderr}`;
  const detail = `${outcome.summary}\n${text.split('\n').slice(-40).join('\n')}`;
  if (outcome.ending === 'cancelled') {
    return appError('python_broken', 'Installing the Python packages was interrupted.', {
      nextStep: 'Start again: it goes on where it stopped.',
    });
  }
  if (/No space left on device|Errno 28|not enough space/i.test(text)) {
    return appError('disk_full', 'The disk has no room for the Python packages; they take up to 8 GB.', {
      nextStep: `Free some space, or set VIRNUCPRO_DATA_DIR to a folder on another disk, ${AGAIN}`,
      detail,
    });
  }
  if (/SSLError|CERTIFICATE_VERIFY_FAILED/i.test(text)) {
    return appError('python_broken', 'The package index shows a certificate that is not trusted here.', {
      nextStep: `On a network that inspects traffic, set PIP_CERT to its certificate, ${AGAIN}`,
      detail,
    });
  }
  if (
    /name resolution|getaddrinfo|NewConnectionError|ConnectTimeout|Read timed out|ProxyError|Connection (?:refused|reset)|Network is unreachable/i.test(
      text,
    )
  ) {
    return appError('python_broken', 'The Python packages could not be downloaded: there is no connection.', {
      nextStep: `Check the network, or set HTTPS_PROXY or PIP_INDEX_URL, ${AGAIN}`,
      detail,
    });
  }
  const missing = /No matching distribution found for (\S+)/.exec(text)?.[1];
  if (missing !== undefined) {
    return appError('python_broken', `There is no ${missing} for this computer and this version of Python.`, {
      nextStep: `Install a Python from 3.10 to 3.13, ${AGAIN}`,
      detail,
    });
  }
  return appError('python_broken', 'Installing the Python packages failed.', {
    nextStep: `Read the last lines of the installer below, ${AGAIN}`,
    detail,
  });
}
