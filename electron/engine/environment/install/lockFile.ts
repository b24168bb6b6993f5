/** The lock file: every package with its version and the hashes of its files, as `npm run lock-python` writes it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AppPaths } from '../appPaths.ts';
import type { RequirementSet } from '../requirements.ts';

export function lockFile(set: RequirementSet, { pythonBackend }: Pick<AppPaths, 'pythonBackend'>): string {
  return join(pythonBackend, set === 'run' ? 'requirements.lock' : 'requirements-test.lock');
}

/** PyTorch and what only some of its builds need. */
const OF_TORCH = /^(torch|triton|cuda-|nvidia-(?!ml-py\b))/;

/** The same without PyTorch and what comes with it, for a build of it that is not on the ordinary index. */
export async function lockWithoutTorch(file: string): Promise<string> {
  const text = await readFile(file, 'utf8');
  // An entry begins at the margin; its hashes and remarks are indented.
  return text
    .split(/^(?=[A-Za-z0-9])/m)
    .filter((entry) => !OF_TORCH.test(entry))
    .join('');
}

/** The line of requirements.txt that pins PyTorch, such as torch==2.13.0. */
export async function torchRequirement({ pythonBackend }: Pick<AppPaths, 'pythonBackend'>): Promise<string> {
  const text = await readFile(join(pythonBackend, 'requirements.txt'), 'utf8');
  const line = /^torch==\S+/m.exec(text)?.[0];
  if (line === undefined) throw new Error('requirements.txt does not pin torch');
  return line;
}
