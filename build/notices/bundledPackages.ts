/** Finds the npm packages in the shipped bundles by bundling, not by reading package.json. */
import { existsSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { build as bundle } from 'esbuild';
import { build as buildWithVite } from 'vite';
import { nodeBundle } from '../nodeBundle.ts';

const root = join(import.meta.dirname, '..', '..');
const PROGRAMS = ['electron/main/main.ts', 'electron/preload/preload.ts', 'electron/cli/main.ts'];

export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX expression from package.json. */
  readonly license: string;
  readonly folder: string;
}

export function packageTitle({ name, version }: BundledPackage): string {
  return `${name} ${version}`;
}

/** Returns the packages sorted by name. */
export async function bundledPackages(): Promise<BundledPackage[]> {
  const files = [...(await filesOfPrograms()), ...(await filesOfWindow())];
  const folders = new Set(files.flatMap((file) => packageFolder(file) ?? []));
  // npm may keep the same version of a package in several places.
  const packages = new Map([...folders].map(readPackage).map((found) => [packageTitle(found), found]));
  return [...packages.values()].toSorted((a, b) => compare(packageTitle(a), packageTitle(b)));
}

async function filesOfPrograms(): Promise<string[]> {
  const { metafile } = await bundle({
    ...nodeBundle(`${process.platform}-${process.arch}`),
    absWorkingDir: root,
    entryPoints: PROGRAMS,
    outdir: 'dist',
    external: ['electron'],
    metafile: true,
    write: false,
  });
  return Object.keys(metafile.inputs).map((file) => join(root, file));
}

async function filesOfWindow(): Promise<string[]> {
  const files: string[] = [];
  // Bundles as for shipping: a test runner's NODE_ENV would make Vite include code that only development
  // needs.
  process.env['NODE_ENV'] = 'production';
  await buildWithVite({
    configFile: join(root, 'renderer', 'vite.config.ts'),
    logLevel: 'error',
    build: { write: false },
    plugins: [
      {
        name: 'note-files',
        buildEnd() {
          files.push(...this.getModuleIds());
        },
      },
    ],
  });
  return files.map((id) => id.replace(/^\0/, '').replace(/\?.*$/, ''));
}

/** The folder below node_modules that a file belongs to; undefined for the project's own files. */
function packageFolder(file: string): string | undefined {
  const marker = `${sep}node_modules${sep}`;
  const start = file.lastIndexOf(marker);
  if (start < 0) return undefined;
  const [first = '', second = ''] = file.slice(start + marker.length).split(sep);
  const folder = join(
    file.slice(0, start),
    'node_modules',
    first.startsWith('@') ? join(first, second) : first,
  );
  return existsSync(join(folder, 'package.json')) ? folder : undefined;
}

function readPackage(folder: string): BundledPackage {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: string | { type: string };
  };
  if (license === undefined) throw new Error(`${name} names no licence: look it up before shipping it`);
  return { name, version, license: typeof license === 'string' ? license : license.type, folder };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
