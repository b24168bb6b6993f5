import { expect, it } from 'vitest';
import { madeSystem } from './testing/madeSystem.ts';
import { replaceFile } from './replaceFile.ts';

/** A system on which another program holds the file open during the first `tries` attempts. */
function held(platform: NodeJS.Platform, tries: number, code = 'EPERM') {
  const system = {
    renamePausesMs: madeSystem(platform).renamePausesMs,
    renamed: 0,
    pauses: [] as number[],
    rename: () => {
      if (tries-- > 0) throw Object.assign(new Error('no'), { code });
      system.renamed++;
    },
    pause: (milliseconds: number) => void system.pauses.push(milliseconds),
  };
  return system;
}

it.each(['EPERM', 'EACCES', 'EBUSY'])(
  'waits on Windows for a scanner that holds the file open: %s',
  (code) => {
    const system = held('win32', 3, code);
    replaceFile('a', 'b', system);
    expect(system).toMatchObject({ renamed: 1, pauses: [10, 20, 40] });
  },
);

it('gives up after a few seconds with the error of the system', () => {
  const system = held('win32', Infinity);
  expect(() => replaceFile('a', 'b', system)).toThrow(expect.objectContaining({ code: 'EPERM' }));
  expect(system.pauses.reduce((sum, pause) => sum + pause)).toBe(2550);
});

it.each([
  ['win32', 'ENOSPC'],
  ['win32', 'ENOENT'],
  ['linux', 'EPERM'],
  ['darwin', 'EACCES'],
] as const)('does not wait if the error is permanent: %s, %s', (platform, code) => {
  const system = held(platform, 1, code);
  expect(() => replaceFile('a', 'b', system)).toThrow(expect.objectContaining({ code }));
  expect(system.pauses).toEqual([]);
});
