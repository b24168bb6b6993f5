import { describe, expect, it } from 'vitest';
import { isAllowedExternalLink, isAllowedPermission, isAppPage, isTrustedFrame } from './pagePolicy.ts';

describe('what counts as our page', () => {
  it.each(['app://virnucpro/', 'app://virnucpro/index.html#/run'])('accepts %s', (url) => {
    expect(isAppPage(url)).toBe(true);
  });

  it.each([
    '',
    'about:blank',
    'app://other/',
    'app://virnucpro.evil/',
    'app://virnucpro@evil/',
    'https://virnucpro/',
    'file:///app/virnucpro/index.html',
    'data:text/html,app://virnucpro/',
    'javascript:app://virnucpro/',
  ])('refuses %s', (url) => {
    expect(isAppPage(url)).toBe(false);
  });

  it('trusts only its main frame', () => {
    const url = 'app://virnucpro/';
    expect(isTrustedFrame({ url, parent: null })).toBe(true);
    expect(isTrustedFrame({ url, parent: {} })).toBe(false);
    expect(isTrustedFrame({ url: 'https://evil.example/', parent: null })).toBe(false);
    expect(isTrustedFrame(null)).toBe(false);
  });
});

it('grants three harmless permissions to our page and nothing else', () => {
  expect(isAllowedPermission('notifications', 'app://virnucpro/')).toBe(true);
  expect(isAllowedPermission('notifications', 'https://evil.example/')).toBe(false);
  for (const permission of [
    'media',
    'geolocation',
    'openExternal',
    'clipboard-read',
    'usb',
    'midiSysex',
    '',
  ]) {
    expect(isAllowedPermission(permission, 'app://virnucpro/'), permission).toBe(false);
  }
});

it.each([
  ['https://github.com/a/b', true],
  ['https://doi.org/10.1000/182', true],
  // BLAST opens only through the action that asks before a sequence leaves the computer.
  ['https://blast.ncbi.nlm.nih.gov/Blast.cgi', false],
  ['mailto:someone@example.org?attach=/etc/passwd', false],
  ['http://github.com/', false],
  ['https://github.com.evil.example/', false],
  ['https://evil.example/?https://github.com/', false],
  ['https://github.com@evil.example/', false],
  ['https://user:secret@github.com/', false],
  ['https://github.com:8443/', false],
  ['file:///etc/passwd', false],
  ['smb://server/share', false],
  ['javascript:alert(1)', false],
  ['nonsense', false],
])('opens %s in the browser: %s', (url, allowed) => {
  expect(isAllowedExternalLink(url)).toBe(allowed);
});
