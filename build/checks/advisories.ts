/** Reads what package registries say of known weaknesses: npm's own audit, and PyPI's description of a release. */
import { z } from 'zod';

export interface Advisory {
  /** With its version, where the registry names it. */
  package: string;
  name: string;
  /** The registry's advice; null if it names no release without the weakness. */
  mended: string | null;
}

/** Name and version of each package that a lock file of pip pins. */
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

/** From the answer of `npm audit --json`; null where it is none, as of a registry that answers no such question. */
export function npmAdvisories(answer: unknown): Advisory[] | null {
  const audit = npmAudit.safeParse(answer);
  if (!audit.success) return null;
  return Object.entries(audit.data.vulnerabilities).flatMap(([name, { via, fixAvailable }]) =>
    // A text is the name of the package that is weak, which has an entry of its own.
    via.flatMap((weakness) =>
      typeof weakness === 'string'
        ? []
        : [
            {
              package: `${name} ${weakness.range}`,
              name: weakness.title,
              mended: mendedBy(name, fixAvailable),
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

/** From PyPI's `/pypi/NAME/VERSION/json`; null where it is not that, as of a mirror that has only the files. */
export function pypiAdvisories(pin: { name: string; version: string }, answer: unknown): Advisory[] | null {
  const release = pypiRelease.safeParse(answer);
  if (!release.success) return null;
  return release.data.vulnerabilities
    .filter(({ withdrawn }) => !withdrawn)
    .map(({ id, fixed_in }) => ({
      package: `${pin.name} ${pin.version}`,
      name: id,
      mended: fixed_in.length > 0 ? `${pin.name} ${fixed_in.join(' or ')}` : null,
    }));
}
