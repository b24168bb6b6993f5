/** Builds the window into dist/renderer if it is missing or older than its sources: `npm run build`. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const SOURCES = ['renderer', 'electron/contract', 'docs', 'package-lock.json'].map((name) =>
  join(root, name),
);
const BUILT = join(root, 'dist', 'renderer', 'index.html');

export async function buildWindow(): Promise<void> {
  if (existsSync(BUILT) && statSync(BUILT).mtimeMs > newest(SOURCES)) return;
  process.stderr.write('Building the window, which takes a few seconds ...\n');
  // Vite is loaded only here, because every start of the program checks whether the window needs a build.
  const { build } = await import('vite');
  await build({ configFile: join(root, 'renderer', 'vite.config.ts'), logLevel: 'warn' });
}

function newest(paths: readonly string[]): number {
  return Math.max(
    ...paths.map((path) => {
      const info = statSync(path);
      if (!info.isDirectory()) return info.mtimeMs;
      return Math.max(
        info.mtimeMs,
        newest(
          readdirSync(path)
            .filter((name) => name !== 'node_modules' && name !== 'testing')
            .map((name) => join(path, name)),
        ),
      );
    }),
  );
}

if (import.meta.main) await buildWindow();
