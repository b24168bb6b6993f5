import { describe, expect, it } from 'vitest';
import { whereAsked } from './clusterFlags.ts';

describe('where a run computes', () => {
  it('defaults to this computer', () => {
    expect(whereAsked({}, undefined)).toBeUndefined();
    expect(whereAsked({ ray: 'head:6379', shares: 3 }, undefined)).toEqual({
      kind: 'ray',
      address: 'head:6379',
      shares: 3,
      cpus: 0,
      workers: 0,
    });
  });

  it.each([
    [{ ray: 'head:6379' }, '0', '--devices chooses'],
    [{ shares: 2 }, undefined, '--shares means something with --ray only'],
    [{ ray: 'ray://head:10001' }, undefined, '--ray takes HOST:PORT'],
    [{ workers: 2 }, undefined, '--workers means something with --ray only'],
    [{ cpus: 2 }, undefined, '--cpus means something with --ray only'],
  ])('is refused if %j and devices %s contradict each other', (flags, devices, words) => {
    expect(() => whereAsked(flags, devices)).toThrow(words);
  });
});
