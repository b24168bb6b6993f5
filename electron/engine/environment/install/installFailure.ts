/** The failure of an installer in words. */
import { appError, type AppError } from '../../../contract/errors.ts';
import { networkError } from './networkError.ts';
import type { CommandOutcome } from '../runCommand.ts';
import { SUPPORTED_PYTHONS } from '../machine/supportedPython.ts';

const AGAIN = 'then start again: it goes on where it stopped.';
const LINES_KEPT = 40;

export function installFailure(outcome: CommandOutcome): AppError {
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
      nextStep: `Check which mirror is entered under Settings, ${AGAIN}`,
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
      nextStep: `Install ${SUPPORTED_PYTHONS}, ${AGAIN}`,
      detail,
    });
  }
  return appError('python_broken', 'Installing the Python packages failed.', {
    nextStep: `Read the last lines of the installer below, ${AGAIN}`,
    detail,
  });
}

export function isNetworkError({ code }: AppError): boolean {
  return code.startsWith('network_');
}
