import { describe, expect, it } from 'vitest';
import { WITHOUT_PYTHON } from '../engine/testing/testContext.ts';
import { chaos } from './testing/chaos/chaos.ts';
import { compareTables } from './testing/chaos/compareTables.ts';
import { loopDeviceAt } from './testing/chaos/disks.ts';

describe.skipIf(WITHOUT_PYTHON ?? process.platform !== 'linux')('runs that are disturbed', () => {
  it('end with the tables of one that nobody disturbed', async () => {
    const figures = await chaos({
      seed: 20_261_122,
      until: { each: ['everything killed, in random order'] },
    });
    expect(figures.faults).toEqual([]);
    expect(figures).toMatchObject({ tried: 1, identical: 1, lost: 0, doubled: 0, changed: 0, hung: 0 });
    // Else it would be the test that disturbs nothing. On a busy computer the moment may come before there are workers to kill.
    expect(figures.kills).toBeGreaterThan(0);
    expect(figures.recoverSeconds.most).toBeGreaterThan(0);
  });
});

describe('what is counted of them', () => {
  it('tells lost, doubled and changed rows apart', () => {
    const wanted = new Map([['table', 'a\nb\nc\n']]);
    const found = (text: string) => compareTables(wanted, new Map([['table', text]]));
    expect(found('a\nb\nc\n')).toEqual({ lost: 0, doubled: 0, changed: 0 });
    expect(found('a\nc\n')).toEqual({ lost: 1, doubled: 0, changed: 0 });
    expect(found('a\nb\nb\nc\n')).toEqual({ lost: 0, doubled: 1, changed: 0 });
    expect(found('a\nx\nc\n')).toEqual({ lost: 1, doubled: 0, changed: 1 });
    expect(found('b\na\nc\n')).toEqual({ lost: 0, doubled: 0, changed: 1 });
  });

  it('reports errors only to a disk in a file, mounted at the very place', () => {
    const mounts = [
      '21 1 254:0 / / rw - ext4 /dev/vda rw',
      '42 21 7:0 / /tmp/trial\\0401 rw,relatime - ext4 /dev/loop0 rw,errors=remount-ro',
      '43 21 0:50 / /tmp/full rw - tmpfs tmpfs rw',
      '44 21 7:1 / /tmp/covered rw - ext4 /dev/loop1 rw',
      '45 44 254:0 /x /tmp/covered rw - ext4 /dev/vda rw',
    ].join('\n');
    expect(loopDeviceAt('/tmp/trial 1', mounts)).toBe('loop0');
    for (const place of ['/', '/tmp', '/tmp/trial 1/run', '/tmp/full', '/tmp/covered', '/tmp/trial 2']) {
      expect(loopDeviceAt(place, mounts)).toBeUndefined();
    }
  });
});
