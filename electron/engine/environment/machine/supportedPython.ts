/** The Pythons that the pinned PyTorch has wheels for; the one place that says so. */
const MAJOR = 3;
const OLDEST_MINOR = 10;
const NEWEST_MINOR = 14;

export type PythonVersion = readonly [major: number, minor: number, patch: number];

/** For a sentence. */
export const SUPPORTED_PYTHONS = `Python ${MAJOR}.${OLDEST_MINOR} to ${MAJOR}.${NEWEST_MINOR}`;

/** As an installer's command line names it. */
export const OLDEST_PYTHON = `${MAJOR}.${OLDEST_MINOR}`;

/** The Python that is fetched for an environment where there is nothing else to go by. */
export const MANAGED_PYTHON = '3.12';

/** As uv understands a range of versions. */
export const SUPPORTED_RANGE = `>=${MAJOR}.${OLDEST_MINOR},<${MAJOR}.${NEWEST_MINOR + 1}`;

/** `3.14`, `3.13`, ...: the newest first. */
export const SUPPORTED_VERSIONS: readonly string[] = Array.from(
  { length: NEWEST_MINOR - OLDEST_MINOR + 1 },
  (_, step) => `${MAJOR}.${NEWEST_MINOR - step}`,
);

/** A newer Python of the user's own may have a newer PyTorch; an older one can't run the program's own code. */
export function isTooOldPython([major, minor]: PythonVersion): boolean {
  return major < MAJOR || (major === MAJOR && minor < OLDEST_MINOR);
}

/** `3.12.1` as numbers. */
export function pythonVersion(text: string): PythonVersion {
  const [major = 0, minor = 0, patch = 0] = text.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return [major, minor, patch];
}
