/**
 * Stands in for fpm, by which electron-builder makes a deb (CUSTOM_FPM_PATH): takes what electron-builder tells fpm, and makes
 * the package with Debian's own dpkg-deb. An option that it does not know ends it.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const text = { type: 'string' } as const;
const texts = { type: 'string', multiple: true, default: [] as string[] } as const;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    from: { ...text, short: 's' },
    to: { ...text, short: 't' },
    depends: { ...texts, short: 'd' },
    'deb-recommends': texts,
    'deb-compression': { type: 'string', default: 'xz' },
    'deb-priority': { type: 'string', default: 'optional' },
    'after-install': { type: 'string', default: '' },
    'after-remove': { type: 'string', default: '' },
    package: { type: 'string', default: '' },
    force: { type: 'boolean' },
    ...{ architecture: text, description: text, version: text, name: text, maintainer: text },
    ...{ vendor: text, url: text, license: text, category: text },
  },
});
if (values.from !== 'dir' || values.to !== 'deb') throw new Error('only a folder becomes a deb here');

const root = mkdtempSync(join(tmpdir(), 'deb-'));
try {
  for (const mapping of positionals) {
    const [source = '', target = ''] = mapping.split('=');
    const place = join(root, target);
    mkdirSync(dirname(place), { recursive: true });
    if (source.endsWith('/')) cpSync(source, place, { recursive: true, verbatimSymlinks: true });
    else copyFileSync(source, place);
  }
  const control = join(root, 'DEBIAN');
  mkdirSync(control);
  const fields = {
    Package: values.name,
    Version: values.version,
    Vendor: values.vendor,
    License: values.license,
    Architecture: values.architecture,
    Maintainer: values.maintainer,
    Depends: values.depends.join(', '),
    Recommends: values['deb-recommends'].join(', '),
    Section: values.category ?? 'default',
    Priority: values['deb-priority'],
    Homepage: values.url,
    Description: values.description?.trim().replace(/\n\s*/g, '\n '),
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\n`);
  writeFileSync(join(control, 'control'), lines.join(''));
  for (const [name, script] of [
    ['postinst', values['after-install']],
    ['postrm', values['after-remove']],
  ] as const) {
    copyFileSync(script, join(control, name));
    chmodSync(join(control, name), 0o755);
  }
  const options = ['--root-owner-group', `-Z${values['deb-compression']}`];
  execFileSync('dpkg-deb', [...options, '--build', root, values.package], { stdio: 'inherit' });
} finally {
  rmSync(root, { recursive: true });
}
