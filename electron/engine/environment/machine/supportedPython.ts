/**
 * The versions of Python that the pinned PyTorch has wheels for. This is the only place that defines them.
 */
const MAJOR = 3;
const OLDEST_MINOR = 10;
const NEWEST_MINOR = 14;

export type PythonVersion = readonly [major: number, minor: number, patch: number];

/** For use in a sentence. */
export const SUPPORTED_PYTHONS = `Python ${MAJOR}.${OLDEST_MINOR} to ${MAJOR}.${NEWEST_MINOR}`;

/** For the command line of an installer. */
export const OLDEST_PYTHON = `${MAJOR}.${OLDEST_MINOR}`;

/** The Python that is downloaded for an environment if nothing else determines the version. */
export const MANAGED_PYTHON = '3.12';

/** A version range in uv's syntax. */
export const SUPPORTED_RANGE = `>=${MAJOR}.${OLDEST_MINOR},<${MAJOR}.${NEWEST_MINOR + 1}`;

/** `3.14`, `3.13`, ...: newest first. */
export const SUPPORTED_VERSIONS: readonly string[] = Array.from(
  { length: NEWEST_MINOR - OLDEST_MINOR + 1 },
  (_, step) => `${MAJOR}.${NEWEST_MINOR - step}`,
);

/** The user's own newer Python may have a newer PyTorch; an older one can't run the program's own code. */
export function isTooOldPython([major, minor]: PythonVersion): boolean {
  return major < MAJOR || (major === MAJOR && minor < OLDEST_MINOR);
}

/** Parses `3.12.1`. */
export function pythonVersion(text: string): PythonVersion {
  const [major = 0, minor = 0, patch = 0] = text.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return [major, minor, patch];
}
