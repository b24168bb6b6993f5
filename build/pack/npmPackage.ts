/** Packages of the npm registry that are fetched for another kind of computer, and archives in general. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { execa } from 'execa';

/** Fetches a package whose hash is known, and calls `take` with its unpacked folder, which is deleted afterwards. */
export async function withNpmPackage(
  { name, version, integrity }: { name: string; version: string; integrity: string },
  take: (folder: string) => void,
): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'npm-package-'));
  try {
    const { stdout } = await execa('npm', ['pack', '--json', `${name}@${version}`], { cwd: work });
    const [packed] = JSON.parse(stdout) as { filename: string }[];
    const file = join(work, packed?.filename ?? '');
    const hash = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
    if (hash !== integrity) throw new Error(`${name}@${version} is not what it was: ${hash}`);
    await unpack(file);
    take(join(work, 'package'));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Unpacks an archive into its own folder. GNU tar, which Git for Windows brings, takes what stands before the
 * colon of `C:\x.tgz` for another computer.
 */
export function unpack(archive: string): Promise<unknown> {
  return execa('tar', ['-xzf', `./${basename(archive)}`], { cwd: dirname(archive) });
}
