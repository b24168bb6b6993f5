import { describe, expect, it } from 'vitest';
import { isLoopbackName, isOurHost, isOurOrigin, isSameComputer } from './requestGuard.ts';

describe('isOurHost', () => {
  it.each(['127.0.0.1:4170', 'localhost:4170', 'localhost:9999', 'LOCALHOST:1', '[::1]:4170', '127.0.0.1'])(
    'accepts %s',
    (host) => {
      expect(isOurHost(host, [])).toBe(true);
    },
  );

  it.each([
    undefined,
    '',
    'evil.example',
    'evil.example:4170',
    'localhost.evil.example:4170',
    '127.0.0.1.evil.example',
    'gpu1.lab.example:4170',
    '127.0.0.1@evil.example',
    '10.0.0.5:4170',
    'a b',
  ])('refuses %s', (host) => {
    expect(isOurHost(host, [])).toBe(false);
  });

  it('accepts the name that the user bound it to', () => {
    expect(isOurHost('gpu1.lab.example:4170', ['gpu1.lab.example'])).toBe(true);
  });
});

describe('isOurOrigin', () => {
  it('accepts only the page of the same server', () => {
    const host = 'localhost:4170';
    expect(isOurOrigin({ host, origin: 'http://localhost:4170' })).toBe(true);
    for (const origin of [
      undefined,
      'null',
      'http://localhost:4171',
      'http://127.0.0.1:4170',
      'https://evil.example',
      'file://',
    ]) {
      expect(isOurOrigin({ host, origin })).toBe(false);
    }
  });
});

it('knows loopback addresses', () => {
  expect(['127.0.0.1', '127.8.8.8', 'localhost', '::1'].every(isLoopbackName)).toBe(true);
  expect(['0.0.0.0', '::', '192.168.0.2', '127.evil', 'example'].some(isLoopbackName)).toBe(false);
});

describe('isSameComputer', () => {
  it('is determined from the address, and from how the server was started', () => {
    expect(isSameComputer('127.0.0.1', {})).toBe(true);
    expect(isSameComputer('::ffff:127.0.0.1', {})).toBe(true);
    expect(isSameComputer('192.168.0.7', {})).toBe(false);
    expect(isSameComputer('::1', { SSH_CONNECTION: '192.168.0.7 5000 192.168.0.2 22' })).toBe(false);
    expect(isSameComputer(undefined, {})).toBe(false);
  });
});
