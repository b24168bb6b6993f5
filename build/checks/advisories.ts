/**
 * Reads known weaknesses from package registries: the result of npm audit, and PyPI's description of a
 * release.
 */
import { z } from 'zod';

export interface Advisory {
  /** Includes the version, if the registry names it. */
  package: string;
  name: string;
  /** The release that the registry advises; null if it names none without the weakness. */
  fixed: string | null;
}

/** Name and version of each package that a pip lock file pins. */
export function pinnedPackages(lock: string): { name: string; version: string }[] {
  const pins = lock.matchAll(/^([A-Za-z0-9._-]+)==([^\s;\\]+)/gm);
  return [...pins].map(([, name = '', version = '']) => ({ name, version }));
}

const npmAudit = z.object({
  vulnerabilities: z.record(
    z.string(),
    z.object({
      via: z.array(z.union([z.string(), z.object({ title: z.string(), range: z.string() })])),
      fixAvailable: z.union([z.boolean(), z.object({ name: z.string(), version: z.string() })]),
    }),
  ),
});

/**
 * Reads the output of `npm audit --json`; null if it is not one, for example if the registry does not support
 * audits.
 */
export function npmAdvisories(answer: unknown): Advisory[] | null {
  const audit = npmAudit.safeParse(answer);
  if (!audit.success) return null;
  return Object.entries(audit.data.vulnerabilities).flatMap(([name, { via, fixAvailable }]) =>
    // A string names another weak package, which has its own entry.
    via.flatMap((weakness) =>
      typeof weakness === 'string'
        ? []
        : [
            {
              package: `${name} ${weakness.range}`,
              name: weakness.title,
              fixed: mendedBy(name, fixAvailable),
            },
          ],
    ),
  );
}

function mendedBy(name: string, fix: boolean | { name: string; version: string }): string | null {
  if (fix === false) return null;
  return fix === true ? `npm update ${name}` : `${fix.name} ${fix.version}`;
}

const pypiRelease = z.object({
  vulnerabilities: z.array(
    z.object({
      id: z.string(),
      fixed_in: z.array(z.string()),
      withdrawn: z.string().nullish(),
    }),
  ),
});

/**
 * Reads PyPI's `/pypi/NAME/VERSION/json`; null if it is not that, for example from a mirror that has only the
 * files.
 */
export function pypiAdvisories(pin: { name: string; version: string }, answer: unknown): Advisory[] | null {
  const release = pypiRelease.safeParse(answer);
  if (!release.success) return null;
  return release.data.vulnerabilities
    .filter(({ withdrawn }) => !withdrawn)
    .map(({ id, fixed_in }) => ({
      package: `${pin.name} ${pin.version}`,
      name: id,
      fixed: fixed_in.length > 0 ? `${pin.name} ${fixed_in.join(' or ')}` : null,
    }));
}
