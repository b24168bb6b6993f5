import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const backend = join(import.meta.dirname, '..', '..', 'python-backend');

/** Names of the Python packages that the program installs, each once. */
export function pythonRequirements(): string[] {
  const lines = readFileSync(join(backend, 'requirements.txt'), 'utf8').split('\n');
  return [...new Set(lines.flatMap((line) => /^([\w.-]+)==/.exec(line)?.[1] ?? []))];
}

/** The licence that the metadata of an installed package states, in the project's environment. */
export function pythonLicense(name: string): string {
  const folderName = name.replaceAll(/[-.]/g, '_');
  const pattern = `.venv/{lib/python3*,Lib}/site-packages/${folderName}-*.dist-info/METADATA`;
  const [metadata] = globSync(pattern, { cwd: backend });
  if (metadata === undefined) throw new Error(`${name} is not installed in python-backend/.venv`);
  const [head = ''] = readFileSync(join(backend, metadata), 'utf8').split(/\r?\n\r?\n/);
  const license =
    /^License-Expression: (.+)$/m.exec(head)?.[1] ??
    /^Classifier: License :: (?:OSI Approved :: )?(.+)$/m.exec(head)?.[1] ??
    /^License: (.+)$/m.exec(head)?.[1];
  if (license === undefined) throw new Error(`${name} names no licence: look it up before installing it`);
  return license;
}
