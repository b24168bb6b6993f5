import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageTitle, type BundledPackage } from './bundledPackages.ts';

const RULE = '='.repeat(100);
const LICENSE_FILE = /^(licen[cs]e|copying|notice)([.].*)?$/i;

/** The introduction of the file. */
const INTRODUCTION = `Third-party notices of VirNucPro Desktop

VirNucPro Desktop itself is under the MIT licence (file LICENSE). It contains, installs or downloads the
works below, each under the licence of its authors. This file is generated: npm run node -- build/notices/writeNotices.ts.

1. Models. Downloaded by the user on request, not part of the program.

   ESM-2 3B (esm2_t36_3B_UR50D)      MIT          https://github.com/facebookresearch/esm
   DNABERT-S and its tokenizer       Apache-2.0   https://huggingface.co/zhihan1996/DNABERT-S
   VirNucPro classifiers             see the repository of their authors; not redistributed here
                                                  https://github.com/Li-Jing-1997/VirNucPro

   The bundled teaching model was trained for this program on public sequences, under the program's own licence.

2. Electron, in the desktop packages: MIT. Chromium and the other works in it are listed in
   LICENSES.chromium.html, which lies beside the program in every package.

3. SQLite, inside better-sqlite3: public domain. DuckDB, as a library beside the program: MIT, Copyright 2021-2026 Stichting
   DuckDB Foundation.

4. uv, which brings Python and installs its packages: MIT or Apache-2.0. Its program and its licence texts are in
   the folder uv of every package.

5. Python itself, which uv fetches on the computer of the user: PSF-2.0; its licence text comes with it.
`;

/** The text of THIRD_PARTY_NOTICES.txt. */
export function noticesText(
  packages: readonly BundledPackage[],
  python: readonly { name: string; license: string }[],
): string {
  const width = Math.max(...python.map(({ name }) => name.length)) + 2;
  return [
    INTRODUCTION,
    '6. Python packages. Installed on the computer of the user, with what they in turn require; not part of',
    '   the program. Their licence texts come with them.\n',
    ...python.map(({ name, license }) => `   ${name.padEnd(width)}${license}`),
    '\n7. npm packages in the bundles of the program and of its window, with their licence texts.\n',
    ...byText(packages).map(
      ([text, sharing]) =>
        `${RULE}\n${sharing.map((item) => `${packageTitle(item)}  (${item.license})`).join('\n')}\n${RULE}\n\n${text}\n`,
    ),
  ].join('\n');
}

/** Packages of one project often share the same licence text, which is then printed once. */
function byText(packages: readonly BundledPackage[]): [string, BundledPackage[]][] {
  const sharing = Map.groupBy(
    packages,
    ({ folder, license }) => licenseText(folder) ?? `Licence: ${license}`,
  );
  return [...sharing];
}

function licenseText(folder: string): string | undefined {
  const files = readdirSync(folder).filter((name) => LICENSE_FILE.test(name));
  if (files.length === 0) return undefined;
  return files
    .toSorted()
    .map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim())
    .join('\n\n');
}
