import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { npmAdvisories, pinnedPackages, pypiAdvisories } from './advisories.ts';

const root = join(import.meta.dirname, '..', '..');

it('finds every package that the lock files pin, with its version', () => {
  const lock = readFileSync(join(root, 'python-backend', 'requirements.lock'), 'utf8');
  const pins = pinnedPackages(lock);
  expect(pins.map(({ name }) => name)).toContain('torch');
  expect(pins.every(({ version }) => /^\d[\w.+]*$/.test(version))).toBe(true);
  // Each pin is followed by hashes, and nothing else in the file starts in the first column.
  expect(pins.length).toBe(lock.split('\n').filter((line) => /^[A-Za-z]/.test(line)).length);
});

it('lists each finding of npm once, and does not accept an error as an answer', () => {
  const answer = {
    auditReportVersion: 2,
    vulnerabilities: {
      braces: {
        via: [{ title: 'Uncontrolled resource consumption', range: '<3.0.3', url: 'https://example.org' }],
        fixAvailable: true,
      },
      micromatch: {
        via: ['braces'],
        fixAvailable: { name: 'micromatch', version: '4.0.8', isSemVerMajor: false },
      },
      ip: { via: [{ title: 'SSRF', range: '*' }], fixAvailable: false },
    },
  };
  expect(npmAdvisories(answer)).toEqual([
    { package: 'braces <3.0.3', name: 'Uncontrolled resource consumption', fixed: 'npm update braces' },
    { package: 'ip *', name: 'SSRF', fixed: null },
  ]);
  expect(npmAdvisories({ auditReportVersion: 2, vulnerabilities: {} })).toEqual([]);
  expect(npmAdvisories({ message: '405 Method Not Allowed', statusCode: 405 })).toBeNull();
  expect(npmAdvisories(undefined)).toBeNull();
});

it('lists the weaknesses that PyPI knows in a release, except withdrawn ones', () => {
  const pin = { name: 'urllib3', version: '1.26.4' };
  const known = { id: 'PYSEC-2021-108', fixed_in: ['1.26.5'], withdrawn: null, aliases: ['CVE-2021-33503'] };
  const unmended = { id: 'PYSEC-2', fixed_in: [] };
  const withdrawn = { id: 'PYSEC-3', fixed_in: ['2'], withdrawn: '2022-01-01T00:00:00Z' };
  expect(pypiAdvisories(pin, { info: {}, vulnerabilities: [known, unmended, withdrawn] })).toEqual([
    { package: 'urllib3 1.26.4', name: 'PYSEC-2021-108', fixed: 'urllib3 1.26.5' },
    { package: 'urllib3 1.26.4', name: 'PYSEC-2', fixed: null },
  ]);
  expect(pypiAdvisories(pin, { info: {}, vulnerabilities: [] })).toEqual([]);
  // A mirror that has only the files gives no answer.
  expect(pypiAdvisories(pin, undefined)).toBeNull();
});
