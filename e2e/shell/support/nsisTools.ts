/** What electron-builder's target nsis would fetch, around a real `makensis`. */
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { windowsLibrary } from './windowsLibrary.ts';
import { windowsProgram } from './windowsProgram.mjs';

/** Plug-ins that its script calls beside NSIS's own, with the functions that it calls. An installer with these can't install. */
const PLUG_INS: Readonly<Record<string, readonly string[]>> = {
  nsis7z: ['Extract'],
  StdUtils: ['ExecShellAsUser', 'GetAllParameters', 'GetParameter', 'GetParentPath', 'TestParameter'],
  UAC: ['_'],
  WinShell: ['SetLnkAUMI', 'UninstAppUserModelId', 'UninstShortcut'],
};

/**
 * Puts them into `folder`; answers with the environment by which electron-builder finds them. In the place of the uninstaller,
 * which it lets a first installer write under Wine, is a program that does nothing.
 */
export async function nsisTools(folder: string, makensis: string): Promise<NodeJS.ProcessEnv> {
  const plugIns = join(folder, 'plugins', 'x86-unicode');
  await mkdir(plugIns, { recursive: true });
  for (const [name, functions] of Object.entries(PLUG_INS))
    await writeFile(join(plugIns, `${name}.dll`), windowsLibrary(functions));
  await symlink(makensis, join(folder, 'makensis'));
  await writeFile(join(folder, 'elevate.exe'), windowsProgram());

  const wine = join(folder, 'wine');
  for (const name of ['bin', 'lib', 'wine-home']) await mkdir(join(wine, name), { recursive: true });
  const uninstaller = join(wine, 'uninstaller.exe');
  await writeFile(uninstaller, windowsProgram());
  await writeFile(
    join(wine, 'bin', 'wine'),
    `#!/bin/sh\nexec cp '${uninstaller}' "\${1%exe}__uninstaller.exe"\n`,
  );
  await chmod(join(wine, 'bin', 'wine'), 0o755);
  return {
    ELECTRON_BUILDER_NSIS_DIR: folder,
    ELECTRON_BUILDER_NSIS_RESOURCES_DIR: folder,
    ELECTRON_BUILDER_WINE_TOOLSET_DIR: wine,
  };
}
