import { describe, expect, it } from 'vitest';
import { whereAsked } from './clusterFlags.ts';

describe('where a run computes', () => {
  it('is this computer unless a cluster is named', () => {
    expect(whereAsked({}, undefined)).toBeUndefined();
    expect(whereAsked({ ray: 'head:6379', sharedStorage: true }, undefined)).toEqual({
      kind: 'ray',
      address: 'head:6379',
      shared_storage: true,
      cpu_workers_per_node: 0,
    });
  });

  it.each([
    [{ ray: 'head:6379' }, '0', '--devices chooses'],
    [{ sharedStorage: false }, undefined, '--no-shared-storage means something with --ray only'],
    [{ ray: 'ray://head:10001' }, undefined, '--ray takes HOST:PORT'],
    [{ cpuWorkers: 2 }, undefined, '--cpu-workers means something with --ray only'],
  ])('is refused where %j and devices %s say something else', (flags, devices, words) => {
    expect(() => whereAsked(flags, devices)).toThrow(words);
  });
});
