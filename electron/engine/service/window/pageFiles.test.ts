import { describe, expect, it } from 'vitest';
import { pageFile, pageHeaders } from './pageFiles.ts';

describe('pageFile', () => {
  it('finds the files of the window, with their types', () => {
    expect(pageFile('/app/renderer', '/')).toEqual({
      path: '/app/renderer/index.html',
      contentType: 'text/html; charset=utf-8',
      immutable: false,
    });
    expect(pageFile('/app/renderer', '/assets/index-3f.js')).toMatchObject({ immutable: true });
  });

  it.each([
    '/../secret.html',
    '/assets/../../secret.js',
    '/%2e%2e/secret.html',
    '/..%2fsecret.html',
    '/..%5csecret.html',
    '/a%00.html',
    '/%',
    '/run.db',
    '/..',
  ])('returns undefined for %s', (path) => {
    expect(pageFile('/app/renderer', path)).toBeUndefined();
  });

  it('is not fooled by a folder whose name begins like the right one', () => {
    expect(pageFile('/app/renderer', '/../renderer-old/index.html')).toBeUndefined();
  });
});

describe('pageHeaders', () => {
  it('allows scripts and connections only from the page itself and the named sources', () => {
    const policy = pageHeaders(['ws://localhost:4170'])['content-security-policy'] ?? '';
    const rules = new Map(policy.split('; ').map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1)]));
    expect(rules.get('default-src')).toEqual(["'none'"]);
    expect(rules.get('script-src')).toEqual(["'self'"]);
    expect(rules.get('connect-src')).toEqual(["'self'", 'ws://localhost:4170']);
    expect(rules.get('frame-ancestors')).toEqual(["'none'"]);
  });
});
