/** What a lock file says; see `lockFile` in requirements.ts. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AppPaths } from '../appPaths.ts';

/** PyTorch and what only some of its builds need. */
const OF_TORCH = /^(torch|triton|cuda-|nvidia-(?!ml-py\b))/;

/** The same without PyTorch and what comes with it, for a build of it that is not on the ordinary index. */
export async function lockWithoutTorch(file: string): Promise<string> {
  const entries = entriesOf(await readFile(file, 'utf8'));
  return entries.filter((entry) => !OF_TORCH.test(entry)).join('');
}

/** The entries of a lock file for the releases that one kind of computer gets, such as numpy==2.4.6, without their conditions. */
export async function lockFor(
  file: string,
  releases: ReadonlySet<string>,
): Promise<{ torch: string; others: string }> {
  const lock = { torch: '', others: '' };
  for (const entry of entriesOf(await readFile(file, 'utf8'))) {
    const release = /^\S+==[^\s;]+/.exec(entry)?.[0] ?? '';
    if (!releases.has(release)) continue;
    const hashes = entry.match(/--hash=\S+/g) ?? [];
    lock[OF_TORCH.test(entry) ? 'torch' : 'others'] += lockEntry(release, hashes);
  }
  return lock;
}

export function lockEntry(release: string, hashes: readonly string[]): string {
  return `${[release, ...hashes.map((hash) => `    ${hash}`)].join(' \\\n')}\n`;
}

/** An entry begins at the margin; its hashes and remarks are indented. */
export function entriesOf(text: string): string[] {
  return text.split(/^(?=[A-Za-z0-9])/m);
}

/** The line of requirements.txt that pins PyTorch, such as torch==2.13.0. */
export async function torchRequirement({ pythonBackend }: Pick<AppPaths, 'pythonBackend'>): Promise<string> {
  const text = await readFile(join(pythonBackend, 'requirements.txt'), 'utf8');
  const line = /^torch==\S+/m.exec(text)?.[0];
  if (line === undefined) throw new Error('requirements.txt does not pin torch');
  return line;
}
