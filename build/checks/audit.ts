/**
 * `node build/checks/audit.ts`: asks the registries whether a package in package-lock.json or in a lock file
 * of Python has a known weakness. Exits with 1 if one has, and with 2 if a registry does not answer, which
 * says nothing about the packages. It needs a network, so it is not part of `npm test`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { npmAdvisories, pinnedPackages, pypiAdvisories, type Advisory } from './advisories.ts';

const PYPI = 'https://pypi.org/pypi';
const ANSWER_MS = 30_000;

const root = join(import.meta.dirname, '..', '..');
const backend = join(root, 'python-backend');

/** Returns null if there is no answer. */
async function auditNpm(): Promise<Advisory[] | null> {
  const { stdout } = await execa('npm', ['audit', '--json'], { cwd: root, reject: false });
  return npmAdvisories(parsed(stdout));
}

async function auditPython(): Promise<Advisory[] | null> {
  const locks = readdirSync(backend).filter((name) => name.endsWith('.lock'));
  const pins = new Map(
    locks
      .flatMap((name) => pinnedPackages(readFileSync(join(backend, name), 'utf8')))
      .map((pin) => [`${pin.name} ${pin.version}`, pin]),
  );
  const found: Advisory[] = [];
  for (const pin of pins.values()) {
    const advisories = pypiAdvisories(pin, await releaseOf(pin));
    if (advisories === null) return null;
    found.push(...advisories);
  }
  return found;
}

async function releaseOf({ name, version }: { name: string; version: string }): Promise<unknown> {
  try {
    const answer = await fetch(`${PYPI}/${name}/${version}/json`, { signal: AbortSignal.timeout(ANSWER_MS) });
    return answer.ok ? await answer.json() : undefined;
  } catch {
    return undefined;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

let verdict = 0;
for (const [registry, advisories] of [
  ['npm', await auditNpm()],
  ['PyPI', await auditPython()],
] as const) {
  if (advisories === null) verdict ||= 2;
  else if (advisories.length > 0) verdict = 1;
  process.stdout.write(
    advisories === null
      ? `${registry}: not asked, the registry does not answer such questions\n`
      : `${registry}: ${advisories.length} known weaknesses\n`,
  );
  for (const { package: weak, name, fixed } of advisories ?? [])
    process.stdout.write(`  ${weak}: ${name}; ${fixed === null ? 'not mended yet' : `mended by ${fixed}`}\n`);
}
process.exitCode = verdict;
