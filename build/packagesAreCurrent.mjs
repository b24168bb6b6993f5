import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Whether node_modules holds what package-lock.json says. npm notes what it installed in node_modules, and does so last,
 * so an interrupted installation is never taken for a whole one.
 */
export function packagesAreCurrent(root) {
  const wanted = packagesIn(join(root, 'package-lock.json'));
  const installed = packagesIn(join(root, 'node_modules', '.package-lock.json'));
  if (wanted === undefined) return existsSync(join(root, 'node_modules'));
  if (installed === undefined) return false;
  return Object.entries(wanted).every(([path, { version, optional, devOptional, peer }]) => {
    const there = installed[path];
    // Packages for other computers are left out of an installation.
    if (path === '' || (there === undefined && (optional || devOptional || peer))) return true;
    return there !== undefined && there.version === version;
  });
}

function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}
