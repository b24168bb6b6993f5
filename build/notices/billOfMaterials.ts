import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UV_VERSION } from '../../electron/engine/environment/install/uv.ts';
import { MANAGED_PYTHON } from '../../electron/engine/environment/machine.ts';
import type { BundledPackage } from './bundledPackages.ts';

const root = join(import.meta.dirname, '..', '..');

interface Component {
  'bom-ref': string;
  type: 'library';
  name: string;
  version: string;
  purl: string;
  licenses?: { expression: string }[];
}

interface BillOfMaterials {
  bomFormat: 'CycloneDX';
  specVersion: '1.5';
  version: number;
  metadata: { component: { type: 'application'; name: string; version: string } };
  components: Component[];
}

/**
 * Lists what the packages contain and what the program then installs, as CycloneDX. Of the npm packages it
 * lists those that are bundled: `npm sbom` without development packages omits React and others that
 * development packages need, too.
 */
export function billOfMaterials(packages: readonly BundledPackage[]): BillOfMaterials {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    name: string;
    version: string;
    packages: Record<string, { version: string }>;
  };
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', name: lock.name, version: lock.version } },
    components: [
      ...packages.map((one) => component('npm', one.name, one.version, one.license)),
      component('npm', 'electron', lock.packages['node_modules/electron']?.version ?? '', 'MIT'),
      component('pypi', 'uv', UV_VERSION, 'MIT OR Apache-2.0'),
      component('generic', 'cpython', MANAGED_PYTHON),
      ...pythonPackages(),
    ],
  };
}

/** Taken from the lock file that uv installs, with each version once. */
function pythonPackages(): Component[] {
  const lines = readFileSync(join(root, 'python-backend', 'requirements.lock'), 'utf8').split('\n');
  const found = lines.flatMap((line) => {
    const [, name = '', version = ''] = /^([\w.-]+)==([^\s;]+)/.exec(line) ?? [];
    return name === '' ? [] : [component('pypi', name, version)];
  });
  return [...new Map(found.map((one) => [one.purl, one])).values()];
}

function component(kind: string, name: string, version: string, license?: string): Component {
  const purl = `pkg:${kind}/${name.replace('@', '%40')}@${encodeURIComponent(version)}`;
  const licenses = license === undefined ? {} : { licenses: [{ expression: license }] };
  return { 'bom-ref': purl, type: 'library', name, version, purl, ...licenses };
}
